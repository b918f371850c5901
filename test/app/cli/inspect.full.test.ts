import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';

const HOME = 'https://www.example.com/';

test('inspect asks about pages now, within the day, and commits what they say', async () => {
  const service = await startSearchConsole({ websites: [{ id: 'w', pages: 60 }], start: new Date().toISOString() });
  onTestFinished(() => service.close());
  const cwd = temporaryFolder();
  const google = { credentials: await service.credentials(), endpoint: service.url, history: '1d' };
  const websites = [{ id: 'sc-domain:example.com', source: 'google', inspections_per_day: 12 }];
  const settings = { baseUrl: 'http://127.0.0.1:9', websites, sections: { google } };
  const config = writeConfig(cwd, settings);
  const inspect = (...words: string[]) => run(['inspect', '-c', config, '--log-level', 'error', ...words], { cwd });

  await run(['sync', '-c', config, '--max-reports', '10', '--log-level', 'error'], { cwd });
  const [known = ''] = service.inspected.keys();
  service.inspected.clear();
  writeFileSync(join(cwd, 'urls.txt'), `# after the release\n${known}\n\n${HOME}brand-new#top\n`);
  const { code, stdout } = await inspect('--file', 'urls.txt', known);
  expect([code, service.inspected.size]).toEqual([0, 2]);
  expect(stdout).toMatch(/now +not indexed +URL is unknown to Google +never .* https:\/\/www.example.com\/brand-new\n/);

  const more = Array.from({ length: 3 }, (_, at) => `${HOME}more-${at}`);
  const spent = /no +not inspected .*\n\n3 pages not inspected: the day's inspections are used up/;
  expect(await inspect(...more)).toMatchObject({ code: 3, stdout: expect.stringMatching(spent) });
  // What no listing names is inspected, and not listed.
  const asked = "select url, url in (select url from pages) as listed from url_reports where reason = 'asked'";
  const { stdout: found } = await run(['query', '-c', config, '--json', '--sql', `${asked} order by listed`], { cwd });
  const both = [`${HOME}brand-new`, known].map((url) => ({ url, listed: url === known }));
  expect(JSON.parse(found)).toEqual(both);

  for (const [word, why] of [
    ['nope', 'inspect: nope is not the address of a page'],
    ['https://other.example/', 'inspect: https://other.example/ is of no configured property; add it under websites'],
  ] as const)
    expect(await inspect(word)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
});
