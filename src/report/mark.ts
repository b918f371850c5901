/** How a report says whose it is: a later one may take its place. */
export const GENERATOR = 'indexhouse';

const BEGINNING = '<!doctype html>\n<html lang="en">\n<head>\n';
const MARK = `<meta name="generator" content="${GENERATOR} `;
/** Reports were there before the mark was. */
const UNMARKED = '<title>Index report: ';
/** The mark stands within so many bytes. */
export const MARK_BYTES = 2048;

/** Whether a file that begins like this is a report. */
export function isReport(beginning: string): boolean {
  return beginning.startsWith(BEGINNING) && (beginning.includes(MARK) || beginning.includes(UNMARKED));
}
