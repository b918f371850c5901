import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

const HOLD = `
import { DuckDBInstance } from '@duckdb/node-api';
const [file, mode] = process.argv.slice(1);
const instance = await DuckDBInstance.create(file, { access_mode: mode });
const connection = await instance.connect();
process.stdout.write('held');
setInterval(() => connection, 1000);
`;

/** Another process that holds a DuckDB file open until `release`. */
export interface Holder {
  pid: number;
  release(): Promise<void>;
}

/** Starts a process that holds a DuckDB file, and waits until it does. */
export async function holdOpen(file: string, mode: 'READ_ONLY' | 'READ_WRITE'): Promise<Holder> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', HOLD, file, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
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
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('close', (code) => reject(new Error(`the holder ended with ${code}`)));
  });
  return { pid: child.pid ?? -1, release };
}
