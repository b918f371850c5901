import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BLOCK_BYTES = 4096;

/** A disk of its own, in memory, that a test may fill or make read-only. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /** Null where this user may not mount. */
  static mount(bytes: number): SmallDisk | null {
    const path = mkdtempSync(join(tmpdir(), 'indexhouse-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'ignore' });
      return new SmallDisk(path);
    } catch {
      rmSync(path, { recursive: true });
      return null;
    }
  }

  get free(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Takes all of the space but this. */
  fill(left: number): void {
    const file = openSync(this.#ballast, 'w');
    const block = Buffer.alloc(BLOCK_BYTES);
    for (let bytes = this.free - left; bytes >= BLOCK_BYTES; bytes -= BLOCK_BYTES) writeSync(file, block);
    closeSync(file);
  }

  relieve(): void {
    rmSync(this.#ballast, { force: true });
  }

  remount(mode: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${mode}`, this.path]);
  }

  /** Also where something still holds a file on it. */
  unmount(): void {
    execFileSync('umount', ['-l', this.path]);
    rmSync(this.path, { recursive: true });
  }

  get #ballast(): string {
    return join(this.path, 'ballast');
  }
}
