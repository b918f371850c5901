import { askRows } from '../../../answers/query/ask-rows.js';
import { type Reader, withReader } from '../../../answers/query/reader.js';
import { noteRow } from '../../../answers/report/rows.js';
import type { Config } from '../../../base/config/schema.js';
import { websiteIds } from '../../../base/config/websites.js';
import { UsageError } from '../../../base/exit.js';
import { counted } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { waitingForLock } from '../../../base/storage/locks.js';
import { addNote, type NoteInput } from '../../../warehouse/upkeep/note.js';
import { configOf, loggerOf } from '../configured.js';
import { EXIT, type Globals, type Io, widthOf } from '../io.js';
import { formatJson, formatTable } from '../output/output.js';

const MOST_CHARACTERS = 500;
/** A directory of URLs; the part of a URL after `?` or `#` is in none. */
const DIRECTORY = /^\/([^\s?#]+\/)?$/;
const WAIT_FOR_REMOVAL = { withinMs: 10_000, everyMs: 250 };
const EVER = { since: '0001-01-01', until: '9999-12-31' };
const NONE = 'No notes yet. Add one: indexhouse note 2026-11-18 "Relaunch of the blog"\n';
const LEFT = 'Another process writes to the warehouse: the next sync updates indexhouse.duckdb and the other copies.\n';

export interface Flags extends Globals {
  website?: string[];
  directory?: string;
  list?: boolean;
  remove?: string;
}

type Known = Awaited<ReturnType<typeof readKnown>>;

/** `indexhouse note`: adds, lists and removes notes. */
export async function run(flags: Flags, io: Io, words: string[]): Promise<number> {
  const { list, remove } = flags;
  const [date = '', text = ''] = words;
  const asked = [list, remove !== undefined, words.length > 0].filter(Boolean).length;
  if (asked !== 1 || words.length === 1) throw new UsageError('give a date and a text, or --list, or --remove <id>');
  const added = words.length > 0 ? { note_date: date, note: textOf(text), directory: directoryOf(flags) } : null;
  const config = await configOf(flags, io, { withoutTokens: true });
  const known = await readKnown(config);
  if (list) return show(known, flags, io);
  const input = added ? { ...added, websites: websitesOf(flags, known), removes: null } : removalOf(known, `${remove}`);
  const listed = known.markers.some((one) => one.date === input.note_date && input.websites.includes(one.websiteId));
  const receipt = await addNote(config, input, loggerOf(flags, io));
  const { note_id, followers } = receipt;
  const done = added
    ? `Noted for ${date}, ${counted(input.websites.length, 'website')}: “${safe(added.note)}” (id ${note_id}).\n`
    : `Removed the note ${input.removes} of ${input.note_date}.\n`;
  const unlisted =
    added && !listed ? `! No snapshot is of ${date}: charts that include that date mark the note.\n` : '';
  io.stdout.write(
    flags.json ? formatJson({ ...input, ...receipt, listed }) : `${done}${unlisted}${followers ? '' : LEFT}`,
  );
  return followers?.some(({ behind }) => behind > 0) ? EXIT.warnings : EXIT.done;
}

/** What the warehouse has, read again while something is being removed. @throws BusyError */
function readKnown({ warehouse: { path: warehouse, memory_limit: memoryLimit } }: Config) {
  const read = async (reader: Reader) => {
    await reader.loadMarkers();
    const notes = await askRows(reader, 'answers/report/notes', noteRow, { website: null, ...EVER });
    return { websites: await reader.websites(), notes, markers: reader.markers };
  };
  return waitingForLock(() => withReader({ warehouse, memoryLimit }, read), WAIT_FOR_REMOVAL);
}

function textOf(given: string): string {
  const note = given.trim();
  const { length } = [...note];
  if (length === 0) throw new UsageError('the note is empty: say what was done, such as "Relaunch of the blog"');
  if (length > MOST_CHARACTERS)
    throw new UsageError(`the note has ${length} characters; the most are ${MOST_CHARACTERS}`);
  if (safe(note) !== note) throw new UsageError('the note has control characters: write it as one line of plain text');
  return note;
}

function directoryOf({ directory }: Flags): string | null {
  if (directory === undefined) return null;
  if (DIRECTORY.test(directory) && directory.length <= MOST_CHARACTERS && safe(directory) === directory)
    return directory;
  const form = 'begin and end it with a slash, such as /blog/';
  throw new UsageError(`--directory ${directory} is no directory of URLs: ${form}`);
}

/** A note for all websites has a row for each, so that whoever may see only some needs no row of others. */
function websitesOf({ website }: Flags, { websites }: Known): string[] {
  if (websites.length === 0) throw new UsageError('the warehouse has no website yet: run `indexhouse sync` first');
  return websiteIds(website ?? websites.map(({ id }) => id), websites, 'the warehouse');
}

function removalOf({ notes }: Known, id: string): NoteInput {
  const found = notes.find(({ note_id }) => note_id === id);
  if (!found) throw new UsageError(`no note ${id} in the warehouse: \`indexhouse note --list\` shows their ids`);
  return { websites: found.websites, note_date: found.note_date, directory: null, note: null, removes: id };
}

function show({ notes }: Known, flags: Flags, io: Io): number {
  const rows = notes.map((one) => [one.note_date, one.note, one.directory, one.names ?? 'all', one.note_id]);
  const table = formatTable(['date', 'note', 'directory', 'websites', 'id'], rows, { width: widthOf(io.stdout) });
  io.stdout.write(flags.json ? formatJson(notes) : notes.length === 0 ? NONE : table);
  return EXIT.done;
}
