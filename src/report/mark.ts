/** Marks a report as ours, so that a later one may overwrite it. */
export const GENERATOR = 'indexhouse';

const BEGINNING = '<!doctype html>\n<html lang="en">\n<head>\n';
const MARK = `<meta name="generator" content="${GENERATOR} `;
/** Earlier versions wrote no mark. */
const UNMARKED = '<title>Index report: ';
/** The mark is within the first bytes. */
export const MARK_BYTES = 2048;

/** Whether a file that begins like this is a report. */
export function isReport(beginning: string): boolean {
  return beginning.startsWith(BEGINNING) && (beginning.includes(MARK) || beginning.includes(UNMARKED));
}
