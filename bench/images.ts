import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { demoText } from '../src/app/cli/commands/demo.js';
import { optionsOf } from '../src/app/cli/commands/serve.js';
import { settingsFor } from '../src/app/cli/configured.js';
import { type Io, processIo } from '../src/app/cli/io.js';
import { startService } from '../src/app/cli/serving/running-service.js';
import { type DemoResult, runDemo } from '../src/app/demo/demo.js';
import { createLogger } from '../src/base/observe/log.js';
import { packageFolder } from '../src/base/storage/sql.js';
import { packageVersion } from '../src/base/version.js';
import { addKey } from '../src/serve/keys/manage-keys.js';

/**
 * The pictures of the README, and what the demo prints in it: the demo is run as of now, its report and its dashboard
 * are photographed, and its story is written beside them, so that a test can tell whether they are still what the demo
 * shows.
 *
 * Run with: npm run images
 */
export const IMAGES = join(packageFolder(), 'docs', 'images');
const README = join(packageFolder(), 'README.md');
const SIZE = { width: 1200, height: 1100 };
const DEMO = { source: 'api' as const, pages: 3000, nights: 14, seed: 1 };
/** What the README shows the demo print. */
const PRINTED = /(?<=```text\n)\d+ nights of [\s\S]*?(?=```)/;
const TOOK = /(?<=synced in\s)[\dmhs ]+(?=:)/;

/** The demo as it is with its defaults at a given time, and what it prints in a clone. */
export async function demoAt(now: number, cwd: string): Promise<{ result: DemoResult; printed: string }> {
  const logger = createLogger({ level: 'warn', destination: process.stderr, color: false, secrets: [] });
  const { signal } = new AbortController();
  const folder = join(cwd, 'indexhouse-demo');
  const result = await runDemo({
    ...DEMO,
    folder,
    version: await packageVersion(),
    logger,
    progress: null,
    signal,
    now,
  });
  const io: Io = { ...processIo(), stdout: new PassThrough(), env: { NO_COLOR: '1' }, cwd, program: 'node .' };
  return { result, printed: await demoText(result, { ...DEMO, folder }, io) };
}

/** The README with what the demo prints; the time that it took stays, because it says more of the machine. */
export function withDemo(readme: string, printed: string): string {
  const [took = ''] = TOOK.exec(readme) ?? [];
  return readme.replace(PRINTED, () => printed.replace(TOOK, took));
}

async function main(): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'indexhouse-images-'));
  try {
    const now = Date.now();
    const { result, printed } = await demoAt(now, cwd);
    mkdirSync(IMAGES, { recursive: true });
    const browser = await chromium.launch({ executablePath: process.env['CHROME_PATH'] ?? '/usr/bin/chromium' });
    await photographed(browser, pathToFileURL(result.report).href, 'report.png');
    await dashboard(browser, result.warehouse);
    await browser.close();
    const facts = { made_at: new Date(now).toISOString(), story: result.story };
    writeFileSync(join(IMAGES, 'demo.json'), `${JSON.stringify(facts, null, 2)}\n`);
    writeFileSync(README, withDemo(readFileSync(README, 'utf8'), printed));
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function dashboard(browser: Browser, warehouse: string): Promise<void> {
  const logger = createLogger({ level: 'warn', destination: process.stderr, color: false, secrets: [] });
  const settings = await settingsFor({ warehouse }, { env: {}, cwd: '/' }, { service: { port: 0 } });
  const { token } = await addKey(warehouse, { label: 'demo', websites: 'all' });
  const service = await startService({ ...optionsOf(settings, { warehouse }), prefix: '', timeZone: 'UTC', logger });
  try {
    await photographed(browser, `${service.url}/`, 'dashboard.png', token);
  } finally {
    await service.close();
  }
}

/** The top of a page; with a token after signing in, on the page of the first website. */
async function photographed(browser: Browser, url: string, file: string, token?: string): Promise<void> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto(url);
  if (token !== undefined) {
    await page.locator('input[name=token]').fill(token);
    await page.keyboard.press('Enter');
    await page.locator('a[href*="/dashboard/websites/"]').first().click();
    await page.waitForLoadState('networkidle');
  }
  await page.screenshot({ path: join(IMAGES, file) });
  await context.close();
}

if (import.meta.filename === process.argv[1]) await main();
