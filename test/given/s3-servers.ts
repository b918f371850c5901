import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Bucket } from '../../src/warehouse/bucket/client.js';
import { environmentOf } from './bucket.js';
import { listenOnLoopback } from './loopback.js';
import { CACHE, mayInstallTools } from './packages.js';

const VERSITYGW = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const PROGRAM = join(CACHE, 'bin', 'versitygw');

interface RealServer {
  url: string;
  env: ReturnType<typeof environmentOf>;
  close(): void;
}

/** Installs versitygw if that is allowed and it is not there yet. @returns whether it is there; if not, it is said */
export function hasServer(): boolean {
  if (!mayInstallTools()) return false;
  if (!existsSync(PROGRAM)) {
    const env = { ...process.env, GOBIN: join(CACHE, 'bin') };
    const { error, stderr } = spawnSync('go', ['install', VERSITYGW], { env, encoding: 'utf8' });
    if (!existsSync(PROGRAM)) process.stdout.write(`skipped: no versitygw: ${error?.message ?? stderr.trim()}\n`);
  }
  return existsSync(PROGRAM);
}

/** A server of other people that keeps its objects in a folder, with an empty bucket `lake`. */
export async function startRealServer(folder: string): Promise<RealServer> {
  const port = await freePort();
  const own = environmentOf(`http://127.0.0.1:${port}`);
  Object.assign(process.env, own);
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, ROOT_ACCESS_KEY: own.AWS_ACCESS_KEY_ID, ROOT_SECRET_KEY: own.AWS_SECRET_ACCESS_KEY };
  const child = spawn(PROGRAM, ['--port', `127.0.0.1:${port}`, 'posix', folder], { stdio: 'ignore', env });
  const url = 's3://lake';
  const bucket = new Bucket(url, { attempts: 9 });
  await bucket.put('', '', {});
  await bucket.close();
  return { url, env: own, close: () => void child.kill('SIGKILL') };
}

async function freePort(): Promise<string> {
  const { url, close } = await listenOnLoopback(createServer());
  await close();
  return new URL(url).port;
}
