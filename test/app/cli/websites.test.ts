import type { Command } from 'commander';
import { beforeAll, expect, test } from 'vitest';
import { processIo } from '../../../src/app/cli/io.js';
import { buildProgram } from '../../../src/app/cli/program.js';
import { websiteIds } from '../../../src/base/config/websites.js';
import { casesAtLength, once } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { keyTo, type ScriptedService, startService, TOKEN } from '../../given/service.js';

interface Answer {
  websites?: { website_id: string }[] | string[];
}

/** Each command that has `--website`, with what it needs beside it. */
const COMMANDS: [name: string, words: string[]][] = [
  ['sync', ['--json', '--max-reports', '0']],
  ['report', ['--json', '--out', 'report.html']],
  ['keys add', ['--json', '--label', 'reader']],
  ['note', ['--json', '2025-03-01', 'Relaunch']],
];
/** The websites of one are made, not looked up, and one takes a website away from the others. */
const OTHERS = ['simulate', 'remove'];
const ID = 'shop';
const NAME = 'https://shop.example';

const configs: Record<string, string> = {};
let service: ScriptedService;
let cwd: string;
/** What the key may read; none: it is refused. */
let readable = [ID];

beforeAll(async () => {
  const folder = () => temporaryFolder();
  cwd = folder();
  const v1 = () => (readable.length === 0 ? { status: 401, body: '{}' } : { body: JSON.stringify(keyTo(readable)) });
  service = await startService({ v1: { listing: v1 } });
  service.list(ID, [{ url: `${NAME}/a` }]);
  const sections = { warehouse: { path: `${cwd}/warehouse` } };
  const given = { baseUrl: service.url, token: TOKEN };
  configs['all'] = writeConfig(folder(), { ...given, sections });
  const named = { websites: [{ id: ID, name: NAME }] as unknown as Record<string, unknown> };
  configs['a list'] = writeConfig(folder(), { ...given, sections: { ...sections, ...named } });
  expect(await ran('sync', 'all', '--max-reports', '0')).toMatchObject({ code: 0 });
  readable.push('blog');
  service.list('blog', [{ url: 'https://blog.example/a' }]);
});

function ran(command: string, config: string, ...words: string[]) {
  return run([...command.split(' '), '--config', configs[config] ?? '', ...words], { cwd });
}

/** The ids of the websites that an answer is about. */
function idsIn(stdout: string): string[] {
  const { websites = [] }: Answer = JSON.parse(stdout);
  return websites.map((website) => (typeof website === 'string' ? website : website.website_id));
}

function havingWebsite(command: Command, path: string[] = []): string[] {
  const own = command.options.some(({ long }) => long === '--website') ? [path.join(' ')] : [];
  return [...own, ...command.commands.flatMap((child) => havingWebsite(child, [...path, child.name()]))];
}

once('these are all commands that take websites', () => {
  const program = buildProgram('0.0.0', processIo(), { exitCode: 0 });
  const names = COMMANDS.map(([name]) => name);
  expect(havingWebsite(program).sort()).toEqual([...names, ...OTHERS].sort());
});

test.each(casesAtLength(COMMANDS, 'sync', 'keys add'))('%s takes a website by its name', async (command, words) => {
  const { code, stdout, stderr } = await ran(
    command,
    'a list',
    ...words,
    ...['--website', NAME, '--log-level', 'warn'],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('indexhouse: ') });
  expect(idsIn(stdout)).toEqual([ID]);
  await ran('keys revoke', 'a list', 'reader');
});

test.each(casesAtLength(COMMANDS, 'sync', 'report'))('%s suggests known websites', async (command, words) => {
  const refused = await ran(command, 'a list', ...words, '--website', 'https://shp.example');
  const about =
    /^indexhouse: no website "https:\/\/shp.example" in .+\. Did you mean:\n {2}shop {2}https:\/\/shop.example\n/;
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(about) });
});

once('an id wins over a name, and a name of several websites is refused', () => {
  const known = [
    { id: 'a', name: 'b' },
    { id: 'b', name: 'twin' },
    { id: 'c', name: 'twin' },
    { id: 'c', name: 'earlier' },
  ];
  expect(websiteIds(['b', 'earlier', 'c'], known, 'the warehouse')).toEqual(['b', 'c']);
  const several = 'several websites in the warehouse are called "twin"; give the id:\n  b  twin\n  c  twin';
  expect(() => websiteIds(['twin'], known, 'the warehouse')).toThrow(several);
});

once('where the configuration says all, sync finds a website that only the service knows by its name', async () => {
  const name = 'https://blog.example';
  const planned = await ran('sync', 'all', '--dry-run', '--website', name);
  expect(planned).toMatchObject({ code: 2, stderr: expect.stringContaining('in the warehouse. It has:\n  shop') });
  const synced = await ran('sync', 'all', '--json', '--max-reports', '0', '--website', name);
  expect(idsIn(synced.stdout)).toEqual(['blog']);
});

once(
  'where the configuration says all, sync names the websites as status does, also if the service does not',
  async () => {
    const synced = await ran('sync', 'all', '--max-reports', '0', '--website', NAME);
    expect(synced).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n${NAME} `) });
    readable = [];
    const refused = await ran('sync', 'all', '--log-level', 'silent');
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining(`\n${NAME} `) });
    expect(refused.stdout).toMatch(/^! https:\/\/.*shop.example: the last run got no snapshot: .*401/m);
  },
);
