import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { nextTimes } from '../../src/config/cron.js';
import { run } from '../given/cli.js';

const FOLDER = 'deploy';
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).map((name) => join(FOLDER, name));

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
  it.each(FILES.filter((file) => /\.ya?ml$/.test(file)))('%s is YAML', (file) => {
    const documents = parseAllDocuments(readFileSync(file, 'utf8'));
    expect([...documents].flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('call only commands and flags that there are', async () => {
    const places = [
      ...FILES.filter((file) => /\.(ya?ml|service)$/.test(file)),
      'docs/run-it-every-night.md',
      'Dockerfile',
    ];
    const calls = places.flatMap((file) => callsIn(readFileSync(file, 'utf8')));
    expect(calls.length).toBeGreaterThan(8);
    for (const [command = '', ...words] of calls) {
      const { code, stdout } = await run([command, '--help']);
      const flags = words.filter((word) => word.startsWith('--'));
      expect({ command, code, unknown: flags.filter((flag) => !stdout.includes(`${flag} `)) }).toEqual({
        command,
        code: 0,
        unknown: [],
      });
    }
  });

  it('name times that cron takes', () => {
    const texts = [...FILES.filter((file) => /\.ya?ml$/.test(file)), 'docs/run-it-every-night.md'].map((file) =>
      readFileSync(file, 'utf8'),
    );
    const times = texts.flatMap((text) => [...text.matchAll(/(?:^|["'])((?:[\d*/,-]+ ){4}[\d*/,-]+)(?=["' ])/gm)]);
    expect(times.length).toBeGreaterThan(5);
    for (const [, cron = ''] of times) expect([cron, nextTimes(cron, 'UTC', 1).length]).toEqual([cron, 1]);
  });

  it('name metrics that there are', () => {
    const sources = ['src/analysis/metrics.ts', 'src/cli/daemon-service.ts'].map((file) => readFileSync(file, 'utf8'));
    const used = FILES.filter((file) => /prometheus|grafana/.test(file) && /\.\w+$/.test(file)).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bindexhouse_(\w+)/g)].map(([, name]) => name ?? ''),
    );
    expect(used.length).toBeGreaterThan(10);
    const made = new Set(
      [...sources.join('\n').matchAll(/^ {2}(\w+): \{|\bname: '(\w+)'/gm)].map(([, one, other]) => one ?? other),
    );
    expect([...new Set(used)].filter((name) => !made.has(name))).toEqual([]);
  });
});
