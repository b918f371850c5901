import { expect } from 'vitest';
import { once, testAtLength } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { givenNights } from '../../given/nights.js';

testAtLength('status --metrics prints what the newest run did, and what failed, for a textfile collector', async () => {
  const simulator = await startSimulator({ websites: [{ id: 'one', pages: 5 }] });
  const folder = temporaryFolder();
  const afterSync = async (code: number, token?: string) => {
    const given = { baseUrl: simulator.url, websites: ['one'], ...(token && { token }) };
    const config = ['--config', writeConfig(folder, given)];
    expect((await run(['sync', ...config])).code).toBe(code);
    return (await run(['status', '--metrics', ...config])).stdout.split('\n');
  };
  const label = '{website_id="one",website="one"}';

  const lines = await afterSync(0);
  expect(lines).toEqual(
    expect.arrayContaining([
      '# TYPE indexhouse_snapshots gauge',
      `indexhouse_snapshots${label} 1`,
      `indexhouse_listing_complete${label} 1`,
      `indexhouse_pages_listed${label} 5`,
      `indexhouse_last_run_success${label} 1`,
      `indexhouse_last_run_requests${label} 6`,
      'indexhouse_websites 1',
      'indexhouse_notices_waiting 0',
      'indexhouse_follower_behind{follower="duckdb"} 0',
      'indexhouse_warnings 0',
      'indexhouse_running 0',
      'indexhouse_last_night_good 1',
    ]),
  );
  expect(lines.join('\n')).toMatch(
    /^indexhouse_last_night_info\{sentence="Last night was good: 1 of 1 website, [\d:–]+ UTC\."\} 1$/m,
  );
  // A gauge of which nothing is known is left out, not 0.
  expect(lines.join()).not.toContain('indexhouse_quarantine_records ');
  expect(await afterSync(1, 'wrong')).toEqual(
    expect.arrayContaining([
      `indexhouse_last_run_success${label} 0`,
      `indexhouse_snapshots${label} 1`,
      'indexhouse_warnings 1',
    ]),
  );
});

once('pages by verdict and state have labels that the service cannot multiply or break', async () => {
  const list = Object.fromEntries(
    ['Submitted and indexed', 'a new state', 'another "new"\n} 1', null].map((state, at) => [
      `a/${at}`,
      { index_summary: at === 0 ? 'Indexed' : 'Not Indexed', index_coverage_state: state },
    ]),
  );
  const nights = await givenNights();
  await nights.night({ list });
  const { stdout } = await run(['status', '--metrics', '--warehouse', nights.warehouse]);
  const lines = stdout.split('\n').filter((line) => line.startsWith('indexhouse_pages{'));
  const series = (verdict: string, state: string, pages: number) =>
    expect.stringMatching(
      new RegExp(`^indexhouse_pages\\{website_id="w",website=".*",verdict="${verdict}",state="${state}"\\} ${pages}$`),
    );
  expect(lines.sort()).toEqual([
    series('Indexed', 'Submitted and indexed', 1),
    series('Not Indexed', 'none', 1),
    series('Not Indexed', 'other', 2),
  ]);
});
