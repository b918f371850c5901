import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { PROGRAM } from '../given/cli.js';

const PRELOAD = join(import.meta.dirname, 'virtual-machine.mjs');
const TAIL_BYTES = 64;

const said = z.object({ resting: z.number().optional(), heap: z.number().optional() });

/**
 * A machine on which `indexhouse schedule` runs as it is, in a process of its own, and waiting takes no time. Its clock is
 * in a file, so that it goes on when the process is killed.
 */
export class Machine {
  #child: ChildProcess | null = null;
  readonly #clock: number;
  readonly log: string;
  kills = 0;

  constructor(
    private readonly folder: string,
    private readonly config: string,
    startsAt: number,
  ) {
    const file = join(folder, 'clock');
    writeFileSync(file, `${Date.now()} ${startsAt - Date.now()}\n`);
    this.#clock = openSync(file, 'a+');
    this.log = join(folder, 'log');
  }

  /** Milliseconds since 1970. */
  now = (): number => Date.now() + this.#offset();

  #offset(): number {
    const { size } = fstatSync(this.#clock);
    const bytes = Buffer.alloc(Math.min(TAIL_BYTES, size));
    readSync(this.#clock, bytes, 0, bytes.length, size - bytes.length);
    return Number(bytes.toString().trimEnd().split(/[ \n]/).at(-1));
  }

  /** Nobody is at work meanwhile. */
  pass(ms: number): void {
    appendFileSync(this.#clock, `${Date.now()} ${this.#offset() + Math.round(ms)}\n`);
  }

  start(): void {
    const log = openSync(this.log, 'a');
    const args = ['--expose-gc', '--import', `file://${PRELOAD}?clock=${join(this.folder, 'clock')}`, PROGRAM];
    this.#child = spawn(process.execPath, [...args, 'schedule', '--config', this.config], {
      stdio: ['ignore', log, log, 'ipc'],
      env: { PATH: process.env['PATH'] ?? '', TMPDIR: tmpdir(), TZ: 'UTC', NO_COLOR: '1' },
    });
    closeSync(log);
  }

  /** Lets the process work and wait until the clock shows this time. @returns false where it was killed before */
  async runUntil(until: number): Promise<boolean> {
    const heard = this.#hear();
    this.#child?.send({ until });
    const { resting } = await heard;
    return resting !== undefined;
  }

  /** The machine sleeps: its clock goes on, its timers do not. */
  sleep(ms: number): void {
    this.#child?.send({ sleep: ms });
  }

  /** Bytes that are in use after a collection. */
  async heap(): Promise<number> {
    const heard = this.#hear();
    this.#child?.send({ heap: true });
    return (await heard).heap ?? 0;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    this.kills++;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Asks the process to stop, as an operator does. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const code = await ended;
    if (code !== 0) throw new Error(`the daemon ended with ${code}: ${this.tail()}`);
  }

  /** The last lines of the log. */
  tail(): string {
    return readFileSync(this.log, 'utf8').slice(-4000);
  }

  /** What the process says next; nothing if it is killed. */
  #hear(): Promise<z.output<typeof said>> {
    const child = this.#child;
    if (!child) throw new Error('no process is running');
    return new Promise((resolve, reject) => {
      const onMessage = (message: unknown) => {
        child.off('exit', onExit);
        resolve(said.parse(message));
      };
      const onExit = (code: number | null, signal: NodeJS.Signals | null) => {
        child.off('message', onMessage);
        if (signal === 'SIGKILL') resolve({});
        else reject(new Error(`the daemon ended by itself, with ${code ?? signal}: ${this.tail()}`));
      };
      child.once('message', onMessage).once('exit', onExit);
    });
  }
}
