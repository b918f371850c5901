import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { z } from 'zod';

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
/** Why nothing is tested in a browser here; empty where it is. */
export const SKIPPED = existsSync(CHROMIUM) ? '' : ` (skipped: there is no ${CHROMIUM}, and CHROMIUM_PATH names none)`;

const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];
const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const axeFindings = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** What a page did that it should not: errors on the console, and requests to another origin than its own. */
export function watched(page: Page, origin: string): string[] {
  const noise: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') noise.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => noise.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const { origin: asked, protocol } = new URL(request.url());
    if (asked !== origin && protocol !== 'data:') noise.push(`request: ${request.url()}`);
  });
  return noise;
}

export async function findingsOf(page: Page): Promise<string[]> {
  // Through the debugger: the page's own policy forbids what is not its own.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE_SOURCE);
  const found = axeFindings.parse(
    await page.evaluate('axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)'),
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}
