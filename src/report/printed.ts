import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser, LaunchOptions } from 'playwright-core';
import { UsageError } from '../exit.js';

/** Programs that print pages, by their usual names. */
const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];
const SIZE = { width: 1200, height: 900 };

/**
 * A report as PDF or as a picture, made by the Chromium, Chrome or Edge of this machine: `CHROME_PATH`, one on the
 * `PATH`, or one where it is usually installed.
 *
 * @param page the complete HTML document
 * @throws UsageError if there is none
 */
export async function printed(page: string, format: 'pdf' | 'png', env: NodeJS.ProcessEnv): Promise<Buffer> {
  return withBrowser(env, async (browser) => {
    const context = await browser.newContext({ javaScriptEnabled: false, offline: true, viewport: SIZE });
    const tab = await context.newPage();
    await tab.setContent(page);
    if (format === 'pdf') return await tab.pdf({ preferCSSPageSize: true, printBackground: true });
    return await tab.screenshot({ fullPage: true });
  });
}

/**
 * Starts the browser of this machine, and ends it afterwards.
 *
 * @throws UsageError if there is none
 */
export async function withBrowser<T>(env: NodeJS.ProcessEnv, work: (browser: Browser) => Promise<T>): Promise<T> {
  const browser = await launched(env);
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

async function launched(env: NodeJS.ProcessEnv): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  const path = env.CHROME_PATH ?? programOf(env.PATH ?? '');
  const ways: LaunchOptions[] = path ? [{ executablePath: path }] : [{ channel: 'chrome' }, { channel: 'msedge' }];
  const failures: unknown[] = [];
  for (const way of ways) {
    try {
      return await chromium.launch(way);
    } catch (error) {
      failures.push(error);
    }
  }
  const why = path ? `${path} does not start: ${String(failures[0]).split('\n')[0]}` : 'none was found';
  throw new UsageError(
    `PDF and PNG need Chromium, Chrome or Edge: ${why}. Install one, or set CHROME_PATH to its program`,
    { cause: failures[0] },
  );
}

function programOf(path: string): string | undefined {
  const files = path.split(delimiter).flatMap((folder) => PROGRAMS.map((name) => join(folder, name)));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
