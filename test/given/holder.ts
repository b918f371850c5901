import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

const HOLD = `
import { createInterface } from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';
const [file, mode] = process.argv.slice(1);
const instance = await DuckDBInstance.create(file, { access_mode: mode });
const connection = await instance.connect();
process.stdout.write('held\\n');
for await (const sql of createInterface({ input: process.stdin })) {
  const answer = await connection.runAndReadAll(sql).then((read) => read.getRowsJson(), (error) => error.message);
  process.stdout.write(JSON.stringify(answer) + '\\n');
}
`;

/** Another process that holds a DuckDB file open until `release`. */
interface Holder {
  pid: number;
  /** Asks it one line of SQL: an array for each row, or the text of an error. */
  ask(sql: string): Promise<unknown>;
  release(): Promise<void>;
}

/** Starts a process that holds a DuckDB file, and waits until it does. */
export async function holdOpen(file: string, mode: 'READ_ONLY' | 'READ_WRITE'): Promise<Holder> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', HOLD, file, mode], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: import.meta.dirname,
  });
  const exited = new Promise<void>((resolve) => {
    child.on('close', () => resolve());
  });
  const release = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(release);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const heard = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the holder ended with ${child.exitCode}`);
    return String(value);
  };
  await heard();
  const ask = async (sql: string): Promise<unknown> => {
    child.stdin.write(`${sql}\n`);
    return JSON.parse(await heard());
  };
  return { pid: child.pid ?? -1, ask, release };
}
