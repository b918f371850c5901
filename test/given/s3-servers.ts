import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Bucket } from '../../src/bucket/client.js';
import type { BucketConfig } from '../../src/config/bucket.js';
import { CACHE, mayInstallTools } from './packages.js';

const MOTO = 'moto[s3,server]==5.2.5';
const VERSITYGW = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const KEYS = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'hush/hush+hush' };

export interface RealServer {
  config: BucketConfig;
  close(): void;
}

type Name = keyof typeof INSTALL;

/** Installs a server where that is allowed and it is not there yet. @returns whether it is there; if not, it is said */
export function hasServer(name: Name): boolean {
  return mayInstallTools() && existsSync(INSTALL[name]());
}

/** A server of other people, with an empty bucket `lake`. */
export async function startRealServer(name: Name, folder: string): Promise<RealServer> {
  const program = INSTALL[name]();
  const port = await freePort();
  const child = name === 'moto' ? startMoto(program, port) : startGateway(program, port, folder);
  const config = { url: 's3://lake', endpoint: `http://127.0.0.1:${port}`, ...KEYS };
  const bucket = new Bucket(config, { attempts: 9 });
  await bucket.put('', '', { ifAbsent: false });
  await bucket.close();
  return { config, close: () => void child.kill('SIGKILL') };
}

/** Each gives the program, which is not there where it could not be installed. */
const INSTALL = {
  moto: () => {
    const program = join(CACHE, 'moto', 'bin', 'moto_server');
    if (existsSync(program)) return program;
    mkdirSync(CACHE, { recursive: true });
    ran('python3', ['-m', 'venv', join(CACHE, 'moto')]);
    ran(join(CACHE, 'moto', 'bin', 'pip'), ['install', '--quiet', MOTO]);
    return program;
  },
  versitygw: () => {
    const program = join(CACHE, 'bin', 'versitygw');
    if (!existsSync(program)) ran('go', ['install', VERSITYGW], { GOBIN: join(CACHE, 'bin') });
    return program;
  },
};

function ran(command: string, args: string[], env: Record<string, string> = {}): void {
  const { status, stderr, error } = spawnSync(command, args, { env: { ...process.env, ...env }, encoding: 'utf8' });
  if (status !== 0) process.stdout.write(`skipped: ${command} ${args.join(' ')}: ${error?.message ?? stderr.trim()}\n`);
}

function startMoto(program: string, port: number): ChildProcess {
  return spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
}

function startGateway(program: string, port: number, folder: string): ChildProcess {
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, ROOT_ACCESS_KEY: KEYS.access_key_id, ROOT_SECRET_KEY: KEYS.secret_access_key };
  return spawn(program, ['--port', `127.0.0.1:${port}`, 'posix', folder], { stdio: 'ignore', env });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
