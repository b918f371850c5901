import { pipeline, Readable } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import { UsageError } from '../../base/exit.js';
import { plainText } from '../../base/observe/csv.js';
import { count, moment } from '../../base/observe/format.js';
import { safe } from '../../base/observe/terminal.js';
import type { Value } from '../../base/storage/values.js';
import { DAY_MS } from '../../base/time.js';
import { urlOf } from '../../base/url.js';
import { packageVersion } from '../../base/version.js';
import type { Analysis } from '../query/catalog.js';
import { countRows, type Question, type Result } from '../query/question.js';
import type { Reader } from '../query/reader.js';

/** The most rows of a sheet, below its row of heads. */
const MOST_ROWS = 1_048_576 - 1;
const MOST_CHARACTERS = 32_767;
const MOST_LINKS = 65_530;
const MOST_LINK_CHARACTERS = 2_000;
const [LEAST_WIDTH, MOST_WIDTH, FILTER_WIDTH] = [10, 60, 4];
/** Excel has no dates before 1900, and counts the days of its first two months wrongly. */
const FIRST_DATE = '1900-03-01';
/** The serial number of 1970-01-01. */
const EPOCH_DAY = 25_569;
/** A web address that needs no repair: with any other link, Excel calls the file damaged. */
const LINK = /^https?:\/\/(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9a-f]{2})+(?:#(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9a-f]{2})*)?$/i;
/** What XML cannot hold or would change, and text that a spreadsheet would read as such a character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ODD = /[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9a-f]{4}_)/gi;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const LANDSCAPE = '<pageSetup orientation="landscape" fitToHeight="0"/>';

/** What the first sheet says, line by line. */
export type About = readonly (readonly [label: string, text: string])[];

/** A column of the sheet of rows, and its place in the answer. */
interface SheetColumn {
  name: string;
  letter: string;
  at: number;
  look: Look;
}

/** @throws UsageError for more rows than a sheet can hold, before the first is written */
export async function checkRows(reader: Reader, question: Question): Promise<void> {
  if ((await countRows(reader, question, MOST_ROWS + 1)) <= MOST_ROWS) return;
  throw new UsageError(
    `${question.name}: more than the ${count(MOST_ROWS)} rows that a spreadsheet holds: use csv or parquet, or ask for fewer`,
  );
}

/**
 * An answer as the bytes of an XLSX file, row by row: a sheet that says what it is, and one with its rows. Times, numbers
 * and booleans keep their types, addresses of pages are links, and every text stays text, even one that looks like a
 * formula. The columns of an analysis are arranged: the page first, `why` beside it, ids last.
 *
 * @param analysis null for columns that the user chose
 * @throws UsageError for a text that is too long for a cell
 */
export function workbook(answer: Result, about: About, analysis: Analysis | null): AsyncGenerator<Uint8Array> {
  const kinds = new Map(analysis?.shown.map(({ column, kind }) => [column, kind]));
  const page = answer.columns.find((name) => name === 'url' || kinds.get(name) === 'url');
  const rank = (name: string) => (name === page ? 0 : name === 'why' ? 1 : /(^|_)id$/.test(name) ? 3 : 2);
  const names = analysis ? answer.columns.toSorted((one, other) => rank(one) - rank(other)) : answer.columns;
  const columns = names.map((name, place): SheetColumn => {
    const at = answer.columns.indexOf(name);
    const type = kinds.get(name) === 'share' ? 'share' : (answer.types[at] ?? 'other');
    return { name, letter: letterOf(place), at, look: name === page ? 'page' : type };
  });
  return zipped(filesOf(answer.parts, columns, about));
}

function letterOf(place: number): string {
  const last = String.fromCharCode(65 + (place % 26));
  return place < 26 ? last : `${letterOf(Math.floor(place / 26) - 1)}${last}`;
}

async function* filesOf(
  parts: Result['parts'],
  columns: readonly SheetColumn[],
  about: About,
): AsyncGenerator<ZipFile> {
  const written: Written = { rows: 0, links: new Map(), isCut: false };
  yield ['xl/worksheets/sheet2.xml', rowsSheet(parts, columns, written)];
  const links = [...written.links.values()].map((link) => ['hyperlink', link] as const);
  yield ['xl/worksheets/_rels/sheet2.xml.rels', [relations(...links)]];
  const created = `${moment(Date.now())} by indexhouse ${await packageVersion()}`;
  const rows: About = [['Rows', count(written.rows)]];
  const cut: About = written.isCut ? [['Links', `The first ${count(MOST_LINKS)} pages; a sheet holds no more.`]] : [];
  yield ['xl/worksheets/sheet1.xml', [aboutSheet([...about, ...rows, ...cut, ['Created', created]])]];
  yield ['xl/workbook.xml', [workbookPart(`$A$1:$${columns.at(-1)?.letter}$${written.rows + 1}`)]];
  const sheets = [1, 2].map((number) => ['worksheet', `worksheets/sheet${number}.xml`] as const);
  yield ['xl/_rels/workbook.xml.rels', [relations(...sheets, ['styles', 'styles.xml'])]];
  yield ['xl/styles.xml', [STYLES]];
  yield ['_rels/.rels', [relations(['officeDocument', 'xl/workbook.xml'])]];
  yield ['[Content_Types].xml', [CONTENT_TYPES]];
}

/** What is counted while the rows are written. */
interface Written {
  rows: number;
  /** By cell, in XML. */
  links: Map<string, string>;
  isCut: boolean;
}

async function* rowsSheet(parts: Result['parts'], columns: readonly SheetColumn[], written: Written) {
  let head = true;
  for await (const rows of parts) {
    if (head) yield headOf(columns, rows);
    head = false;
    yield rows.map((row) => rowText(row, columns, written)).join('');
  }
  if (head) yield headOf(columns, []);
  const links = [...written.links.keys()].map((cell, at) => `<hyperlink ref="${cell}" r:id="rId${at + 1}"/>`);
  yield `</sheetData><autoFilter ref="A1:${columns.at(-1)?.letter}${written.rows + 1}"/>`;
  yield links.length > 0 ? `<hyperlinks>${links.join('')}</hyperlinks>` : '';
  yield `${LANDSCAPE}</worksheet>`;
}

/** The beginning of the sheet, down to its heads. @param rows its first ones, which decide how wide columns are */
function headOf(columns: readonly SheetColumn[], rows: readonly (readonly Value[])[]): string {
  const widths = columns.map(({ name, at }) => {
    const longest = Math.max(name.length + FILTER_WIDTH, ...rows.map((row) => plainText(row[at] ?? '').length));
    return Math.min(Math.max(longest, LEAST_WIDTH), MOST_WIDTH);
  });
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const heads = columns.map(({ name, letter }) => textCell(`${letter}1`, name, 'head'));
  return `${sheetStart(pane, widths)}<row r="1">${heads.join('')}</row>`;
}

function sheetStart(pane: string, widths: readonly number[]): string {
  const columns = widths.map((width, at) => `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`);
  const view = `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`;
  return `<worksheet ${NAMESPACES}><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>${view}<cols>${columns.join('')}</cols><sheetData>`;
}

function rowText(row: readonly Value[], columns: readonly SheetColumn[], written: Written): string {
  written.rows++;
  const number = written.rows + 1;
  const cells = columns.map((column) => cellOf(row[column.at] ?? null, column, number, written));
  return `<row r="${number}">${cells.join('')}</row>`;
}

function cellOf(value: Value, { name, letter, look }: SheetColumn, row: number, written: Written): string {
  if (value === null) return '';
  const cell = `${letter}${row}`;
  if (typeof value === 'boolean') return `<c r="${cell}" t="b"><v>${Number(value)}</v></c>`;
  if (typeof value === 'number') return numberCell(cell, value, look);
  const text = plainText(value);
  const isTime = (look === 'date' || look === 'time') && /^\d{4}-/.test(text) && text >= FIRST_DATE;
  if (isTime) return numberCell(cell, Date.parse(text) / DAY_MS + EPOCH_DAY, look);
  if (text.length > MOST_CHARACTERS) {
    throw new UsageError(
      `a text of ${count(text.length)} characters in ${name}: a cell of a spreadsheet holds ${count(MOST_CHARACTERS)}. Use csv, json or parquet, or leave the column out with --columns`,
    );
  }
  const link = look === 'page' ? linkOf(text) : null;
  if (link === null) return textCell(cell, text, 'other');
  if (written.links.size < MOST_LINKS) written.links.set(cell, xmlText(link));
  else written.isCut = true;
  return textCell(cell, text, written.links.has(cell) ? 'page' : 'other');
}

function linkOf(text: string): string | null {
  const { href = '' } = (safe(text) === text && urlOf(text)) || {};
  return href.length <= MOST_LINK_CHARACTERS && LINK.test(href) ? href : null;
}

function numberCell(cell: string, value: number, look: Look): string {
  return `<c r="${cell}" s="${LOOKS[look]}"><v>${value}</v></c>`;
}

function textCell(cell: string, text: string, look: Look): string {
  return `<c r="${cell}" s="${LOOKS[look]}" t="inlineStr"><is><t xml:space="preserve">${xmlText(text)}</t></is></c>`;
}

/** A text in XML, with odd characters in the way of spreadsheets. */
function xmlText(text: string): string {
  const hex = (character: string) => character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return text
    .replace(ODD, (character) => `_x${hex(character)}_`)
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}

function aboutSheet(lines: About): string {
  const rows = lines.map(([label, text], at) => {
    const said = textCell(`B${at + 1}`, text.slice(0, MOST_CHARACTERS), at === 0 ? 'head' : 'said');
    // Not every program makes a row as high as its text.
    const height = Math.min(Math.ceil(text.length / 95), 25) * 15;
    return `<row r="${at + 1}" ht="${height}" customHeight="1">${textCell(`A${at + 1}`, label, 'head')}${said}</row>`;
  });
  return `${sheetStart('', [14, 90])}${rows.join('')}</sheetData>${LANDSCAPE}</worksheet>`;
}

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
const NAMESPACES = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${OFFICE}"`;

/** How a cell looks: its place among the `cellXfs` of `STYLES`. */
export const LOOKS = { other: 0, date: 1, time: 2, share: 3, head: 4, page: 5, said: 6 } as const;
export type Look = keyof typeof LOOKS;

const FONT = '<sz val="11"/><name val="Calibri"/>';
const xf = (format: number, font: number, inside = '') =>
  `<xf numFmtId="${format}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyAlignment="1">${inside}</xf>`;

const STYLES = `<styleSheet ${NAMESPACES}>
<numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/><numFmt numFmtId="165" formatCode="yyyy-mm-dd hh:mm:ss"/><numFmt numFmtId="166" formatCode="0.0%"/></numFmts>
<fonts count="3"><font>${FONT}</font><font><b/>${FONT}</font><font><u/><sz val="11"/><color rgb="FF1F5FA8"/><name val="Calibri"/></font></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="7">${xf(0, 0)}${xf(164, 0)}${xf(165, 0)}${xf(166, 0)}${xf(0, 1, '<alignment vertical="top"/>')}${xf(0, 2)}${xf(0, 0, '<alignment vertical="top" wrapText="1"/>')}</cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
</styleSheet>`;

const CONTENT_TYPES = `<Types xmlns="${PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/>
<Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/>
<Override PartName="/xl/worksheets/sheet2.xml" ContentType="${TYPE}.worksheet+xml"/>
</Types>`;

/** @param filtered the cells of the second sheet, heads included */
function workbookPart(filtered: string): string {
  return `<workbook ${NAMESPACES}><bookViews><workbookView/></bookViews>
<sheets><sheet name="About" sheetId="1" r:id="rId1"/><sheet name="Rows" sheetId="2" r:id="rId2"/></sheets><definedNames>
<definedName name="_xlnm._FilterDatabase" localSheetId="1" hidden="1">Rows!${filtered}</definedName>
<definedName name="_xlnm.Print_Titles" localSheetId="1">Rows!$1:$1</definedName></definedNames></workbook>`;
}

/** What a part refers to, as `rId1` and so on. @param targets in XML */
export function relations(...targets: readonly (readonly [type: string, target: string])[]): string {
  const all = targets.map(([type, target], at) => {
    const mode = type === 'hyperlink' ? ' TargetMode="External"' : '';
    return `<Relationship Id="rId${at + 1}" Type="${OFFICE}/${type}" Target="${target}"${mode}/>`;
  });
  return `<Relationships xmlns="${PACKAGE}/relationships">${all.join('')}</Relationships>`;
}

const [LOCAL, DESCRIPTOR, CENTRAL, END] = [0x04034b50, 0x08074b50, 0x02014b50, 0x06054b50] as const;
/** Of each file: the version that reads it, sizes after the content and names in UTF-8, deflated, the time (none). */
const KIND = shorts(20, 0x0808, 8, 0, 0x21);

/** A file of an archive. Its content is read when its turn comes. */
export type ZipFile = readonly [path: string, texts: Iterable<string> | AsyncIterable<string>];

/** The bytes of a ZIP archive, which keeps no content in memory. @throws UsageError beyond 4 GiB, which it cannot hold */
async function* zipped(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array> {
  const entries: Uint8Array[] = [];
  let offset = 0;
  for await (const [path, texts] of files) {
    const name = Buffer.from(path);
    const head = Buffer.concat([longs(LOCAL), KIND, longs(0, 0, 0), shorts(name.length, 0), name]);
    yield head;
    let [crc, size, packed] = [0, 0, 0];
    const bytes = async function* () {
      for await (const text of texts) {
        const part = Buffer.from(text);
        crc = crc32(part, crc);
        size += part.length;
        yield part;
      }
    };
    for await (const part of pipeline(Readable.from(bytes()), createDeflateRaw(), () => undefined)) {
      packed += part.length;
      yield part;
    }
    const sums = longs(crc, packed, size);
    yield Buffer.concat([longs(DESCRIPTOR), sums]);
    entries.push(longs(CENTRAL), shorts(20), KIND, sums, shorts(name.length, 0, 0, 0, 0), longs(0, offset), name);
    offset += head.length + packed + 16;
  }
  const directory = Buffer.concat(entries);
  const counts = shorts(0, 0, entries.length / 7, entries.length / 7);
  yield Buffer.concat([directory, longs(END), counts, longs(directory.length, offset), shorts(0)]);
}

function shorts(...values: number[]): Uint8Array {
  return new Uint8Array(Uint16Array.from(values).buffer);
}

function longs(...values: number[]): Uint8Array {
  if (values.some((value) => value > 0xffff_ffff)) {
    throw new UsageError('the spreadsheet would be larger than 4 GiB: use csv or parquet, or ask for fewer rows');
  }
  return new Uint8Array(Uint32Array.from(values).buffer);
}
