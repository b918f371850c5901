import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageFolder } from '../../src/base/storage/sql.js';
import { folderOnDisk } from '../given/folder.js';
import { mayInstallTools } from '../given/packages.js';

const NEEDED = ['buildah', 'debootstrap', 'npm', 'unshare'];
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
/** As the image has it. */
const USER = 1000;
const PROGRAM = 'node /app/dist/src/app/cli/indexhouse.cjs';

const missing = [
  ...NEEDED.filter((tool) => spawnSync('which', [tool]).status !== 0),
  ...(process.getuid?.() === 0 ? [] : ['root']),
];
if (missing.length > 0) process.stdout.write(`skipped: the Dockerfile is not built without ${missing.join(', ')}\n`);
const folder = folderOnDisk('image');
// A storage of its own: the base image below has the name of another, and must not stay on the machine.
const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
const data = join(folder, 'data');
let image = '';

function ran(program: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1e9 });
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${status}\n${stdout.slice(-3000)}${stderr.slice(-3000)}`);
  return stdout.trim();
}

const buildah = (...args: string[]) => ran('buildah', [...storage, ...args]);

/** Makes the image that the Dockerfile starts from, which no registry may be there for: Debian, and this Node.js. */
function makeBase(name: string): void {
  const root = join(folder, 'base');
  ran('debootstrap', ['--variant=minbase', '--include=ca-certificates,libstdc++6', 'bookworm', root]);
  const npm = ran('npm', ['root', '--global']);
  for (const [from, to] of [
    [process.execPath, 'usr/local/bin/node'],
    [join(npm, 'npm'), 'usr/local/lib/node_modules/npm'],
    // Whatever a registry is reached through.
    [AUTHORITIES, AUTHORITIES.slice(1)],
  ] as const) {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    cpSync(from, join(root, to), { recursive: true, dereference: true });
  }
  ran('ln', ['-sf', '../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm')]);
  ran('chroot', [root, 'useradd', '--uid', String(USER), '--user-group', '--create-home', 'node']);
  const container = buildah('from', 'scratch');
  buildah('copy', '--quiet', container, root, '/');
  buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`, container);
  buildah('commit', '--quiet', container, name);
  buildah('rm', container);
  rmSync(root, { recursive: true, force: true });
}

/** Runs a command as the image's user, with a read-only root and a volume at /data. */
function inImage(command: string): { status: number | null; output: string } {
  const inside = `cd /data && exec ${command}`;
  const script = `
    mount --bind "$0" "$0" && mount --bind ${data} "$0/data" && mount -t tmpfs -o mode=1777 tmpfs "$0/tmp" &&
    mount -t proc proc "$0/proc" && mount -o remount,bind,ro "$0" &&
    exec chroot --userspec=${USER}:${USER} "$0" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp sh -c '${inside}'`;
  const { status, stdout, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', script, image], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe.runIf(missing.length === 0 && mayInstallTools())('the image of the Dockerfile', () => {
  beforeAll(() => {
    const [, base = ''] = /^FROM (\S+)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    makeBase(`docker.io/library/${base}`);
    buildah('build', '--isolation', 'chroot', '--pull-never', '--quiet', '--tag', 'indexhouse', packageFolder());
    image = buildah('mount', buildah('from', '--pull-never', 'indexhouse'));
    mkdirSync(data);
    chownSync(data, USER, USER);
    chmodSync(data, 0o755);
  }, 30 * 60_000);
  afterAll(() => {
    execFileSync('buildah', [...storage, 'umount', '--all'], { stdio: 'ignore' });
    execFileSync('buildah', [...storage, 'rm', '--all'], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  });

  test('runs as its user with a read-only root: demo, status, init, health check', () => {
    expect(inImage('sh -c "id -u; touch /app/x"').output).toMatch(/^1000\n.*Read-only file system/);
    const demo = inImage(`${PROGRAM} demo --pages 40 --nights 2`);
    expect(demo).toEqual({ status: 0, output: expect.stringContaining('indexhouse-demo/report.html') });
    const status = inImage(`${PROGRAM} status --warehouse indexhouse-demo/warehouse`);
    expect(status).toEqual({ status: 0, output: expect.stringContaining('indexhouse.duckdb is up to date') });
    expect(inImage(`${PROGRAM} init`).status).toBe(0);
    expect(readFileSync(join(data, 'indexhouse.yaml'), 'utf8')).toMatch(
      '$schema=file:///app/docs/indexhouse.schema.json',
    );
    expect(inImage('test -f /app/docs/indexhouse.schema.json').status).toBe(0);

    const yaml = readFileSync(join(data, 'indexhouse.yaml'), 'utf8');
    writeFileSync(
      join(data, 'indexhouse.yaml'),
      yaml.replace('path: ./warehouse', 'path: ./indexhouse-demo/warehouse'),
    );
    const [, words = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    const health = inImage(`env INDEXHOUSE_TOKEN=x ${JSON.parse(words).join(' ')}`);
    expect(health).toEqual({ status: 0, output: expect.stringContaining('/data/indexhouse-demo/warehouse') });
  });

  test('holds no development tool', () => {
    expect(inImage('test -e /app/node_modules/commander').status).toBe(0);
    expect(inImage('test -e /app/node_modules/typescript').status).toBe(1);
  });
});
