import { type FileHandle, open, rename, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { type JournalFolder, journalFolder, unfinishedJournals } from '../journal/folder.js';
import { JournalError, readHeader, writeHeader } from '../journal/header.js';
import { exists, ifThere, makeFolder, readIfThere, sizeOf, syncFolder } from '../storage/durable.js';
import { decodeId, encodeId } from '../storage/names.js';
import { scratchFolder, warehouseFolder } from '../warehouse/layout.js';
import { RunClaims } from './claims.js';
import type { Bucket } from './client.js';
import { idOfKey } from './keys.js';
import type { Listed } from './listing.js';

const MAX_PART_BYTES = 16e6;
/** Enough of the last sent bytes to see whether a file was overwritten: each line ends with a checksum. */
const TAIL_BYTES = 64;
/** In the order in which a run writes them: each refers to those before it. */
const FILES = ['header', 'listing', 'plan', 'planned', 'remaining', 'reports'] as const;
/** `runs/<run>/website=<id>/<file>/<generation>-<offset>` */
const PART = /^runs\/([^/]+)\/website=([^/]+)\/(\w+)\/(\d{6})-(\d{14})$/;

/** Whether a run belongs to this machine. */
export type Claimed = 'ours' | 'taken' | 'ended';

/** How much of a file is in the bucket. A file that is overwritten begins a new generation there. */
interface Sent {
  generation: number;
  inode: number;
  bytes: number;
  tail: Buffer;
}

/**
 * Keeps what unfinished runs have received in a bucket, for machines that may vanish. Only the new part of a growing
 * file is sent.
 */
export class JournalMirror {
  readonly #sent = new Map<string, Sent>();
  readonly #claims: RunClaims;
  /** Runs that this machine must not send: those that it found and has not claimed. */
  readonly #others = new Set<string>();

  constructor(
    private readonly bucket: Bucket,
    private readonly warehouse: string,
  ) {
    this.#claims = new RunClaims(bucket);
  }

  /** Must be called before anything is resumed. */
  async begin(): Promise<void> {
    for (const folder of await unfinishedJournals(this.warehouse)) this.#others.add(prefixOf(folder));
  }

  /**
   * Claims a run that was found here, and fetches its journal again if another machine has received more meanwhile.
   *
   * @returns `taken` if another machine has it, `ended` if one ended it, so that its journal is of no more use here
   * @throws BucketError
   */
  async claim(folder: JournalFolder, sleep: (ms: number) => Promise<void>): Promise<Claimed> {
    const run = prefixOf(folder);
    const id = await commitOf(folder);
    const before = await this.#claims.take(run, id, sleep);
    if (before === null) return 'taken';
    const [, , website = ''] = run.split('/');
    const runs = await this.bucket.keys(`parquet/runs/${website}/`);
    if (runs.some((key) => idOfKey(key) === folder.runId) || (before > 0 && !(await this.#fetchAgain(folder, id)))) {
      // The next sync removes what is left of it.
      await this.#claims.release(run);
      return 'ended';
    }
    this.takeOver(folder);
    return 'ours';
  }

  /** Sends the journal of a run that was found here. */
  takeOver(folder: JournalFolder): void {
    this.#others.delete(prefixOf(folder));
  }

  /** Releases all runs, so that others need not wait until this machine is presumed dead. @throws BucketError */
  async release(): Promise<void> {
    for (const folder of await unfinishedJournals(this.warehouse)) await this.#claims.release(prefixOf(folder));
  }

  /** @returns false if it was committed */
  async #fetchAgain(folder: JournalFolder, id: string): Promise<boolean> {
    const parts: Listed[] = [];
    for await (const part of this.bucket.list(`${prefixOf(folder)}/`)) if (PART.test(part.key)) parts.push(part);
    const sizes = await Promise.all(FILES.map((name) => sizeOf(folder[name])));
    const there = FILES.flatMap((name) => newestParts(parts, name)).map(({ size }) => size);
    // More was received here while the bucket could not be reached.
    if (sum(sizes) > sum(there)) return true;
    return fetchJournal(this.bucket, { warehouse: this.warehouse, folder, id }, parts);
  }

  /** Sends what is new since the last time. @throws BucketError */
  async send(): Promise<void> {
    // On a first night there is nothing else yet.
    const identity = await readIfThere(warehouseFolder(this.warehouse).identity);
    if (this.#sent.size === 0 && identity !== null) await this.bucket.put('warehouse.json', identity);
    for (const run of await this.#claims.renew()) this.#others.add(run);
    for (const folder of await unfinishedJournals(this.warehouse)) {
      if (!(await this.#isOurs(folder))) continue;
      // Sizes are taken in reverse order, so that nothing is sent without what it refers to.
      const opened: { name: string; handle: FileHandle; bytes: number; inode: number }[] = [];
      try {
        for (const name of [...FILES].reverse()) {
          const handle = await ifThere(open(folder[name]), null);
          if (handle === null) continue;
          const { size: bytes, ino: inode } = await handle.stat();
          opened.unshift({ name, handle, bytes, inode });
        }
        for (const { name, ...file } of opened) await this.#sendFile(`${prefixOf(folder)}/${name}`, file);
      } finally {
        for (const { handle } of opened) await handle.close();
      }
    }
  }

  /**
   * A run that began here is claimed as well, so that a machine that restores it can see that this one is working on
   * it.
   */
  async #isOurs(folder: JournalFolder): Promise<boolean> {
    const run = prefixOf(folder);
    if (this.#others.has(run)) return false;
    if (this.#claims.has(run) || (await this.#claims.take(run, await commitOf(folder), null)) !== null) return true;
    this.#others.add(run);
    return false;
  }

  async #sendFile(key: string, { handle, bytes, inode }: { handle: FileHandle; bytes: number; inode: number }) {
    let sent = this.#sent.get(key);
    const tail = sent ? await read(handle, sent.bytes - sent.tail.length, sent.tail.length) : null;
    const goesOn = sent?.inode === inode && bytes >= sent.bytes && tail?.equals(sent.tail);
    const older = goesOn ? [] : await this.bucket.keys(`${key}/`);
    if (!sent || !goesOn) {
      const newest = Math.max(0, ...older.map((one) => Number(PART.exec(one)?.[4] ?? 0)));
      sent = { generation: newest + 1, inode, bytes: 0, tail: Buffer.alloc(0) };
    }
    while (sent.bytes < bytes) {
      const part = await read(handle, sent.bytes, Math.min(MAX_PART_BYTES, bytes - sent.bytes));
      if (part.length === 0) break;
      const place = `${String(sent.generation).padStart(6, '0')}-${String(sent.bytes).padStart(14, '0')}`;
      await this.bucket.put(`${key}/${place}`, part, { ifAbsent: false });
      sent = { ...sent, bytes: sent.bytes + part.length, tail: part.subarray(-TAIL_BYTES) };
    }
    this.#sent.set(key, sent);
    for (const each of older) await this.bucket.remove(each);
  }
}

/** Removes the journals of runs that are recorded in the bucket. @param runs keys of `parquet/runs/` */
export async function removeEnded(bucket: Bucket, runs: ReadonlySet<string>): Promise<void> {
  const ended = new Set([...runs].map(runOfKey));
  for (const key of await bucket.keys('runs/')) {
    const [, run, website] = /^runs\/([^/]+)\/website=([^/]+)\//.exec(key) ?? [];
    if (ended.has(`${website}/${run}`)) await bucket.remove(key);
  }
}

/**
 * Fetches the journals of unfinished runs. The machine that wrote them may be alive, so their commits get new ids here,
 * and only one of the two commits can have the place.
 *
 * @returns how many there were
 */
export async function fetchJournals(bucket: Bucket, warehouse: string): Promise<number> {
  const ended = new Set((await bucket.keys('parquet/runs/')).map(runOfKey));
  const journals = new Map<string, Listed[]>();
  for await (const part of bucket.list('runs/')) {
    const [, run, website = ''] = PART.exec(part.key) ?? [];
    if (run === undefined || ended.has(`${website}/${run}`)) continue;
    const name = `${run}/${website}`;
    journals.set(name, [...(journals.get(name) ?? []), part]);
  }
  let fetched = 0;
  for (const [name, parts] of journals) {
    const [run = '', website = ''] = name.split('/');
    const id = decodeId(website.replaceAll('!', '%'));
    if (id === null || run.startsWith('.')) continue;
    const folder = journalFolder(warehouse, run, id);
    if (await exists(folder.path)) continue;
    if (await fetchJournal(bucket, { warehouse, folder, id: uuidv7() }, parts)) fetched++;
  }
  return fetched;
}

/**
 * Fetches next to the final place first, so that a run is there completely or not at all.
 *
 * @returns false if the run was committed and only its row was not sent
 */
async function fetchJournal(
  bucket: Bucket,
  { warehouse, folder, id }: { warehouse: string; folder: JournalFolder; id: string },
  parts: readonly Listed[],
): Promise<boolean> {
  const root = join(scratchFolder(warehouse), 'restored');
  const made = journalFolder(root, folder.runId, folder.websiteId);
  await rm(root, { recursive: true, force: true });
  await makeFolder(made.path);
  for (const name of FILES) {
    const own = newestParts(parts, name);
    const handle = own.length > 0 ? await open(made[name], 'w') : null;
    for (const { key } of own) await handle?.appendFile((await bucket.get(key))?.body ?? '');
    await handle?.sync();
    await handle?.close();
  }
  const snapshotId = await renameCommit(made, id);
  const commits = await bucket.keys(`parquet/snapshots/${prefixOf(folder).split('/')[2]}/`);
  if (commits.some((key) => idOfKey(key) === snapshotId)) return false;
  for (const name of FILES) {
    const [last] = parts
      .filter(({ key }) => PART.exec(key)?.[3] === name)
      .map(({ modified }) => new Date(modified))
      .sort((a, b) => b.getTime() - a.getTime());
    // The age of what a run received last decides whether it is resumed.
    if (last && (await exists(made[name]))) await utimes(made[name], last, last);
  }
  await makeFolder(dirname(folder.path));
  await rm(folder.path, { recursive: true, force: true });
  await rename(made.path, folder.path);
  await syncFolder(dirname(folder.path));
  await rm(root, { recursive: true, force: true });
  return true;
}

/** @returns the id that its commit had or would have had; null if that is lost */
async function renameCommit(folder: JournalFolder, id: string): Promise<string | null> {
  try {
    const header = await readHeader(folder);
    if (header) await writeHeader(folder, { ...header, snapshot_id: id });
    return header?.snapshot_id ?? null;
  } catch (error) {
    // The next sync repairs it and gives it a new id as well.
    if (!(error instanceof JournalError)) throw error;
    return null;
  }
}

/** The id that the commit of a run will have on this machine only. */
async function commitOf(folder: JournalFolder): Promise<string> {
  // A header that cannot be read gets a new id when it is repaired as well.
  return (await readHeader(folder).catch(() => null))?.snapshot_id ?? uuidv7();
}

/** The parts of a file's newest generation, up to the first that is missing. */
function newestParts(parts: readonly Listed[], name: string): Listed[] {
  const placed = parts.flatMap((part) => {
    const [, , , file, generation, offset] = PART.exec(part.key) ?? [];
    return file === name ? [{ part, generation: Number(generation), offset: Number(offset) }] : [];
  });
  const newest = Math.max(...placed.filter(({ offset }) => offset === 0).map(({ generation }) => generation));
  const own = placed.filter(({ generation }) => generation === newest).sort((a, b) => a.offset - b.offset);
  let bytes = 0;
  const whole = own.filter(({ offset, part }) => {
    if (offset !== bytes) return false;
    bytes += part.size;
    return true;
  });
  return whole.map(({ part }) => part);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

async function read(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}

function prefixOf({ runId, websiteId }: JournalFolder): string {
  return `runs/${runId}/website=${encodeId(websiteId).replaceAll('%', '!')}`;
}

/** `parquet/runs/website=<id>/date=<date>/<run>.parquet` → `<id>/<run>` */
function runOfKey(key: string): string {
  return `${/website=([^/]+)/.exec(key)?.[1]}/${idOfKey(key)}`;
}
