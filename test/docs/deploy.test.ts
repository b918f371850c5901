import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nextTimes } from '../../src/base/config/cron.js';
import { configSchema } from '../../src/base/config/schema.js';
import { run } from '../given/cli.js';

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
const FILES = filesIn('deploy');

/** All that users read, copy or run. */
const PLACES = [
  ...['deploy', 'docs', 'src', '.github'].flatMap(filesIn),
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'Dockerfile', 'package.json'],
].filter((file) => statSync(file).isFile());
/** Whatever would take the program from a registry, where anybody can publish one of this name. */
const BY_NAME = [
  /\b(?:npx|npm (?:i|install|exec|x)|bunx|pnpm dlx|yarn dlx)\b(?: -\S+)* indexhouse(?![-\w])/,
  /npmjs\.(?:com|org)/,
  /image: (?!indexhouse:local|registry\.example\.com\/|\{)/,
];

/** Whatever calls the program there: its command and flags. */
const CALLS = [
  /\bindexhouse (?<words>(?:sync|serve|report|status|keys|schedule)[^#\n"`]*)/g,
  /(?:args|command): \[(?<words>(?:sync|serve|schedule|status)[^\]]*)\]/g,
  /(?:indexhouse\.cjs", |^CMD \[)"(?<words>\w+)"/gm,
];

function callsIn(text: string): string[][] {
  const found = CALLS.flatMap((pattern) => [...text.matchAll(pattern)].map(({ groups }) => groups?.['words'] ?? ''));
  return found.map((words) => words.split(/[\s,]+/).filter((word) => word !== ''));
}

describe('the files of deploy', () => {
  it('call only commands and flags that there are', async () => {
    const places = [...FILES.filter((file) => /\.(ya?ml|service)$/.test(file)), 'docs/operations.md', 'Dockerfile'];
    const calls = places.flatMap((file) => callsIn(readFileSync(file, 'utf8')));
    expect(calls.length).toBeGreaterThan(8);
    for (const [command = '', ...words] of calls) {
      const { code, stdout } = await run([command, '--help']);
      const unknown = words.filter((word) => word.startsWith('--') && !stdout.includes(`${word} `));
      expect({ command, code, unknown }).toEqual({ command, code: 0, unknown: [] });
    }
  });

  it('install a release, of this version, and nothing by its name', () => {
    const [, version = ''] = /"version": "(.*)"/.exec(readFileSync('package.json', 'utf8')) ?? [];
    const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n');
    const lines = PLACES.flatMap((file) => linesOf(file).map((line) => `${file}: ${line}`));
    expect(lines.filter((line) => BY_NAME.some((pattern) => pattern.test(line)))).toEqual([]);
    const named = lines.flatMap((line) => [...line.matchAll(/indexhouse[-:](\d+\.\d+\.\d+)/g)].map(([, one]) => one));
    expect(named.length).toBeGreaterThan(5);
    expect(new Set(named)).toEqual(new Set([version]));
  });

  it.each(FILES.filter((file) => file.endsWith('.service')))('%s writes where it may', (file) => {
    const unit = readFileSync(file, 'utf8');
    const setting = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
    const config = resolve(setting('WorkingDirectory'), /--config (\S+)/.exec(unit)?.[1] ?? 'indexhouse.yaml');
    const { warehouse } = configSchema.parse({ api: { base_url: 'https://api.example.com', token: 't' } });
    expect(resolve(dirname(config), warehouse.path)).toBe(`/var/lib/${setting('StateDirectory')}/warehouse`);
  });

  it('use actions that nobody can exchange', () => {
    const files = ['.github/workflows/release.yml', '.github/workflows/ci.yml', 'deploy/github-actions/nightly.yml'];
    const used = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/uses: (\S+)/g)]);
    const actions = used.map(([, action = '']) => action).filter((action) => !action.startsWith('./'));
    expect(actions.length).toBeGreaterThan(20);
    for (const action of actions) expect(action).toMatch(/^actions\/[\w/-]+@[0-9a-f]{40}$/);
    const images = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(images).toHaveLength(2);
    for (const image of images) expect(image).toMatch(/^node:24\S*-slim@sha256:[0-9a-f]{64}$/);
  });

  it('name times that cron takes', () => {
    const texts = [...FILES.filter((file) => /\.ya?ml$/.test(file)), 'docs/operations.md'].map((file) =>
      readFileSync(file, 'utf8'),
    );
    const times = texts.flatMap((text) => [...text.matchAll(/(?:^|["'])((?:[\d*/,-]+ ){4}[\d*/,-]+)(?=["' ])/gm)]);
    expect(times.length).toBeGreaterThan(5);
    for (const [, cron = ''] of times) expect([cron, nextTimes(cron, 'UTC', 1).length]).toEqual([cron, 1]);
  });

  it('name metrics that there are', () => {
    const source = readFileSync('src/answers/status/metrics.ts', 'utf8');
    const used = FILES.filter((file) => /prometheus|grafana/.test(file) && /\.\w+$/.test(file)).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bindexhouse_(\w+)/g)].map(([, name]) => name ?? ''),
    );
    expect(used.length).toBeGreaterThan(10);
    const made = new Set([...source.matchAll(/(?:^ {2}|\{ )(\w+): [[{]/gm)].map(([, name]) => name));
    expect([...new Set(used)].filter((name) => !made.has(name))).toEqual([]);
  });
});
