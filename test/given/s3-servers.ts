import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { BucketConfig } from '../../src/base/config/bucket.js';
import { Bucket } from '../../src/warehouse/bucket/client.js';
import { listenOnLoopback } from './loopback.js';
import { CACHE, mayInstallTools } from './packages.js';

const VERSITYGW = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const PROGRAM = join(CACHE, 'bin', 'versitygw');
const KEYS = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'hush/hush+hush' };

interface RealServer {
  config: BucketConfig;
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
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, ROOT_ACCESS_KEY: KEYS.access_key_id, ROOT_SECRET_KEY: KEYS.secret_access_key };
  const child = spawn(PROGRAM, ['--port', `127.0.0.1:${port}`, 'posix', folder], { stdio: 'ignore', env });
  const config = { url: 's3://lake', endpoint: `http://127.0.0.1:${port}`, ...KEYS };
  const bucket = new Bucket(config, { attempts: 9 });
  await bucket.put('', '', {});
  await bucket.close();
  return { config, close: () => void child.kill('SIGKILL') };
}

async function freePort(): Promise<string> {
  const { url, close } = await listenOnLoopback(createServer());
  await close();
  return new URL(url).port;
}
