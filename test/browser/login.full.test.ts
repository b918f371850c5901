import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startSearchConsole } from '../../src/app/demo/search-console/search-console.js';
import { start } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { findingsOf, launch, SKIPPED, watched } from './browser.js';

describe.skipIf(SKIPPED !== '')(`login in a browser${SKIPPED}`, () => {
  it('ends with an accessible page that may be closed', async () => {
    const google = await startSearchConsole({ websites: [{ id: 'w', pages: 20 }] });
    onTestFinished(() => google.close());
    const browser = await launch();
    onTestFinished(() => browser.close());
    const env = { BROWSER: '/bin/true', XDG_CONFIG_HOME: temporaryFolder(), INDEXHOUSE_GOOGLE_ENDPOINT: google.url };
    const running = start(['login', '--client', await google.client()], { env });
    const url = await vi.waitFor(() => /http:\S+/.exec(running.logged())?.[0] ?? expect.fail(), 20_000);
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByText('The client has the wrong type').click();
    await page.getByText('Error 400: redirect_uri_mismatch').waitFor();
    await page.goBack();
    const noise = watched(
      page,
      /127.0.0.1:\d+/.exec(decodeURIComponent(url.split('redirect_uri=')[1] ?? ''))?.[0] ?? '',
    );
    await page.getByText('Allow', { exact: true }).click();
    await page.getByText('You can close this window').waitFor();
    expect(await findingsOf(page)).toEqual([]);
    expect(noise.filter((one) => !one.startsWith('request: http://127.0.0.1'))).toEqual([]);
    expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('It can read 1 property') });
  });
});
