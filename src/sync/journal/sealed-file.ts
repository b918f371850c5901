import { AppendFile } from '../../base/storage/durable.js';
import type { JournalFolder } from '../../warehouse/journal/folder.js';
import { seal, seedOf } from '../../warehouse/journal/seal.js';
import { wellFormedJson } from './embed.js';

/** A file of a journal whose lines are sealed in groups: the seal of a line covers everything before it. */
export class SealedFile {
  readonly #file: AppendFile;
  /** Checksum of all that is written so far. */
  #crc: number;

  /** @param left what an interrupted run left; anything after it is cut off */
  constructor(path: string, folder: JournalFolder, left?: { bytes: number; crc: number }) {
    this.#file = new AppendFile(path, left?.bytes ?? 0);
    this.#crc = left?.crc ?? seedOf(folder);
  }

  /** Writes a group in one write. @param lines complete lines, which the seal of `last` covers */
  append(lines: string, last: object): Promise<void> {
    const sealed = seal(`${lines}${wellFormedJson(last)}`, this.#crc);
    this.#crc = sealed.crc;
    return this.#file.append(`${sealed.text}\n`);
  }

  close(): void {
    this.#file.close();
  }
}
