import duckdb, { type Vector } from '@duckdb/node-bindings';

/** DuckDB's `string_t`: the length, and then the text itself, or its first bytes and where it lies. */
const TEXT_BYTES = 16;
const MAX_INLINE_BYTES = 12;
const INLINE_AT = 4;
const POINTER_AT = 8;
/** A list: where its items begin, and how many they are. */
const LIST_BYTES = 16;
const LENGTH_AT = 8;
/** More than this is not read at one go. */
const MAX_RUN_BYTES = 1_000_000;

/**
 * The texts of a VARCHAR column of a part of an answer. DuckDB lays long ones behind one another, and each look into its
 * memory costs more than the text, so all that lie without a gap are read at one go.
 *
 * @param count how many rows the part has
 */
export function textsOf(vector: Vector, count: number): (string | null)[] {
  const texts = new Array<string | null>(count).fill(null);
  if (count === 0) return texts;
  const isValid = validityOf(vector, count);
  const entries = entriesOf(vector, count * TEXT_BYTES);
  const inline = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength);
  const run = new Run(entries, texts);
  for (let row = 0; row < count; row++) {
    if (!isValid(row)) continue;
    const length = lengthAt(entries, row);
    const from = row * TEXT_BYTES + INLINE_AT;
    if (length > MAX_INLINE_BYTES) run.add(row, length);
    else texts[row] = inline.toString('utf8', from, from + length);
  }
  run.read();
  return texts;
}

/** The texts of each list of a VARCHAR[] column of a part of an answer. */
export function textListsOf(vector: Vector, count: number): ((string | null)[] | null)[] {
  const isValid = validityOf(vector, count);
  const entries = entriesOf(vector, count * LIST_BYTES);
  const items = textsOf(duckdb.list_vector_get_child(vector), duckdb.list_vector_get_size(vector));
  return Array.from({ length: count }, (_, row) => {
    if (!isValid(row)) return null;
    const from = Number(entries.getBigUint64(row * LIST_BYTES, true));
    return items.slice(from, from + Number(entries.getBigUint64(row * LIST_BYTES + LENGTH_AT, true)));
  });
}

/** Long texts that lie behind one another in memory: nothing between them is ever read. */
class Run {
  #rows: number[] = [];
  #bytes = 0;
  #end = 0n;

  constructor(
    private readonly entries: DataView<ArrayBuffer>,
    private readonly texts: (string | null)[],
  ) {}

  add(row: number, length: number): void {
    const begin = this.entries.getBigUint64(row * TEXT_BYTES + POINTER_AT, true);
    if (begin !== this.#end || this.#bytes + length > MAX_RUN_BYTES) this.read();
    this.#rows.push(row);
    this.#bytes += length;
    this.#end = begin + BigInt(length);
  }

  /** Puts the texts of the run in their rows, and begins the next one. */
  read(): void {
    const [first] = this.#rows;
    if (first === undefined) return;
    const { buffer, byteOffset } = this.entries;
    const pointer = byteOffset + first * TEXT_BYTES + POINTER_AT;
    const data = duckdb.get_data_from_pointer(buffer, pointer, this.#bytes);
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    let at = 0;
    for (const row of this.#rows) {
      const end = at + lengthAt(this.entries, row);
      this.texts[row] = bytes.toString('utf8', at, end);
      at = end;
    }
    this.#rows = [];
    this.#bytes = 0;
  }
}

function entriesOf(vector: Vector, bytes: number): DataView<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = duckdb.vector_get_data(vector, bytes);
  if (!(buffer instanceof ArrayBuffer)) throw new TypeError('DuckDB handed out memory that is shared between threads');
  return new DataView(buffer, byteOffset, byteLength);
}

/** Bytes of a text. */
function lengthAt(entries: DataView, row: number): number {
  return entries.getUint32(row * TEXT_BYTES, true);
}

/** One bit a row. */
function validityOf(vector: Vector, count: number): (row: number) => boolean {
  // Null where every row has a value, whatever its type says.
  const bits: Uint8Array | null = duckdb.vector_get_validity(vector, Math.ceil(count / 64) * 8);
  if (bits === null) return () => true;
  return (row) => ((bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
}
