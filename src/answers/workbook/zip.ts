import { pipeline, Readable } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import { UsageError } from '../../base/exit.js';

const [LOCAL, DESCRIPTOR, CENTRAL, END] = [0x04034b50, 0x08074b50, 0x02014b50, 0x06054b50] as const;
/** Of each file: the version that reads it, sizes after the content and names in UTF-8, deflated, the time (none). */
const KIND = shorts(20, 0x0808, 8, 0, 0x21);

/** A file of an archive. Its content is read when its turn comes. */
export type ZipFile = readonly [path: string, texts: Iterable<string> | AsyncIterable<string>];

/** The bytes of a ZIP archive, which keeps no content in memory. @throws UsageError beyond 4 GiB, which it cannot hold */
export async function* zipped(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array> {
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
