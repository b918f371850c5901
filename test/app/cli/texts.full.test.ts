import { expect, test } from 'vitest';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { startService } from '../../given/service.js';
import { startReceiver } from '../notify/given.js';

const THINGS =
  'backup|bytes?|commits?|days?|entries|entry|files?|hours?|inspections?|keys?|minutes?|nights?|notices?|pages?|problems?|records?|reports?|requests?|rows?|runs?|snapshots?|sources?|times?|warnings?|websites?';
/** `1 pages`, `1 page are`. */
const PLURAL_OF_ONE = new RegExp(
  `(?<![\\d.,:-])1 (?:\\w+ )?(?:(?:${THINGS.replaceAll('s?', 's')}|entries)\\b|\\w+ (?:are|were|have)\\b)`,
);
const ZERO = new RegExp(`(?<![\\d.,:-])0 (?:of|${THINGS})\\b`);
const ASKED = ['compare', 'events', 'index_balance'];

/** All that people read of a warehouse after two nights of websites with so many pages, and one without data. */
async function textsOf(pages: number, websites: string[]): Promise<string> {
  const service = await startService();
  const receiver = await startReceiver();
  const list = (number: number, report: object) => {
    for (const id of websites) {
      const urls = Array.from({ length: number }, (_, page) => `https://${id}.example/${page}`);
      service.list(
        id,
        urls.map((url) => ({ url, report })),
      );
    }
  };
  const cwd = temporaryFolder();
  const sections = {
    notify: { channels: [{ type: 'webhook', url: receiver.url }] },
    api: { requests_per_minute: 'unlimited' },
  };
  const config = writeConfig(cwd, { baseUrl: service.url, websites, sections });
  const texts: string[] = [];
  const ran = async (command: string, ...words: string[]) => {
    const { stdout, stderr } = await run([...command.split(' '), '--config', config, ...words], { cwd });
    const sentences = `${stdout}\n${stderr}`.split('\n').filter((line) => !line.startsWith('{'));
    texts.push(`$ ${command}`, ...sentences);
  };
  list(pages, { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed' });
  for (const command of ['doctor', 'sync --dry-run', 'sync', 'sync --dry-run', 'status', 'report']) await ran(command);
  list(pages, { index_summary: 'Not Indexed', index_coverage_state: 'Soft 404' });
  await ran('sync', '--log-level', 'warn');
  for (const command of [
    'sync --dry-run',
    'status --verbose',
    'doctor',
    'report',
    'verify',
    'maintain',
    'notify',
    'query',
  ])
    await ran(command);
  for (const name of ASKED) await ran(`query ${name}`);
  await ran('query', 'page', `url=https://${websites[0]}.example/0`);
  await ran('query', 'pages', 'limit=1');
  await ran('query', '--sql', 'from pages limit 1');
  await ran('backup', `${cwd}/copy`);
  return [...texts, ...receiver.got.map(({ body }) => body)].join('\n');
}

test.each([
  [0, ['w']],
  [1, ['w']],
  [1, ['w', 'v']],
])('no plural of one and no sentence with a zero about %i pages of %j', async (pages, websites) => {
  const lines = (await textsOf(pages, websites)).split('\n');
  expect(lines.filter((line) => PLURAL_OF_ONE.test(line))).toEqual([]);
  expect(lines.filter((line) => ZERO.test(line))).toEqual([]);
});
