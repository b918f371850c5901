import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { optionsOf } from '../src/app/cli/commands/serve.js';
import { settingsFor } from '../src/app/cli/configured.js';
import { wrapped } from '../src/app/cli/output/output.js';
import { startService } from '../src/app/cli/serving/running-service.js';
import { type DemoResult, runDemo } from '../src/app/demo/demo.js';
import { createLogger } from '../src/base/observe/log.js';
import { packageFolder } from '../src/base/storage/sql.js';
import { addKey } from '../src/serve/keys/manage-keys.js';

/**
 * The pictures of the documents, and the story of the demo in the README: runs the demo as of now, photographs its report
 * and its dashboard, and writes the story beside them, so that a test can compare both with the demo.
 *
 * Run with: npm run images
 */
export const IMAGES = join(packageFolder(), 'docs', 'images');
const README = join(packageFolder(), 'README.md');
const SIZE = { width: 1200, height: 1100 };
const DEMO = { source: 'api' as const, pages: 3000, nights: 14, seed: 1 };
/** The story in the README: a list in a block of text. */
const STORY = /(?<=```text\n)- [\s\S]*?(?=```)/;
const STORY_COLUMNS = 78;

/** The demo with its defaults at a given time. */
export function demoAt(now: number, cwd: string): Promise<DemoResult> {
  const logger = createLogger({ level: 'warn', destination: process.stderr, color: false, secrets: [] });
  const { signal } = new AbortController();
  const folder = join(cwd, 'indexhouse-demo');
  return runDemo({ ...DEMO, folder, version: 'images', logger, progress: null, signal, now });
}

/** The README with this story. */
export function withStory(readme: string, story: readonly string[]): string {
  const lines = story.map((sentence) => `- ${wrapped(sentence, STORY_COLUMNS).replaceAll('\n', '\n  ')}\n`);
  return readme.replace(STORY, () => lines.join(''));
}

async function main(): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'indexhouse-images-'));
  try {
    const now = Date.now();
    const result = await demoAt(now, cwd);
    mkdirSync(IMAGES, { recursive: true });
    const browser = await chromium.launch({ executablePath: process.env['CHROME_PATH'] ?? '/usr/bin/chromium' });
    await photographed(browser, pathToFileURL(result.report).href, 'report.png');
    await dashboard(browser, result.warehouse);
    await browser.close();
    const facts = { made_at: new Date(now).toISOString(), story: result.story };
    writeFileSync(join(IMAGES, 'demo.json'), `${JSON.stringify(facts, null, 2)}\n`);
    writeFileSync(README, withStory(readFileSync(README, 'utf8'), result.story));
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function dashboard(browser: Browser, warehouse: string): Promise<void> {
  const logger = createLogger({ level: 'warn', destination: process.stderr, color: false, secrets: [] });
  const settings = await settingsFor({ warehouse }, { env: {}, cwd: '/' }, { service: { port: 0 } });
  const { token } = await addKey(warehouse, { label: 'demo', websites: 'all' });
  const service = await startService({ ...optionsOf(settings), prefix: '', timeZone: 'UTC', logger });
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
