import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildWarehouse } from '../given/warehouse.js';
import { type Dashboard, HOSTILE, NIGHTS, pageAt, SHOP_TOKEN, startDashboard } from '../serve/dashboard/given.js';
import { findingsOf, launch, SKIPPED, watched } from './browser.js';

const SHOP = '/dashboard/websites/shop';
const PAGES = [
  ...['/dashboard/', SHOP, `${SHOP}/changes`, `${SHOP}/compare?from=2025-03-01`, `${SHOP}/runs`],
  `${SHOP}/pages?sort=-state&columns=state,declared,crawl,fetch,robots,crawler,sitemaps,first_seen`,
  ...[pageAt(5), HOSTILE[3] ?? ''].map((url) => `${SHOP}/page?url=${encodeURIComponent(url)}`),
];
const LOOKS = [
  { name: 'light', colorScheme: 'light', size: { width: 1280, height: 900 } },
  { name: 'dark, on a phone', colorScheme: 'dark', size: { width: 390, height: 844 } },
] as const;
const TOO_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

describe.skipIf(SKIPPED !== '')(`the dashboard in a browser${SKIPPED}`, () => {
  let dashboard: Dashboard;
  let browser: Browser;

  beforeAll(async () => {
    const { path } = await buildWarehouse(NIGHTS);
    dashboard = await startDashboard(path, { views: [{ name: 'Out', pages: { indexed: 'no' } }] });
    browser = await launch();
    return () => browser.close();
  });

  async function open(options: BrowserContextOptions = {}): Promise<{ page: Page; noise: string[] }> {
    const page = await browser.newPage({ baseURL: dashboard.origin, ...options });
    onTestFinished(() => page.close());
    return { page, noise: watched(page, dashboard.origin) };
  }

  /** With the keyboard alone: the field of the key is the first that is not a link. */
  async function signIn(page: Page): Promise<void> {
    await page.goto('/');
    await page.getByLabel('API key').focus();
    await page.keyboard.type(SHOP_TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Websites' }).waitFor();
  }

  it('is whole, quiet and accessible on every page: light, dark and on a phone', async () => {
    const { page, noise } = await open();
    await page.goto('/');
    await lookedAt(page, 'sign-in');
    await signIn(page);
    for (const path of PAGES) {
      await page.goto(path);
      for (const closed of await page.locator('summary').all()) await closed.click();
      await lookedAt(page, path);
    }
    expect(noise).toEqual([]);
  });

  async function lookedAt(page: Page, path: string): Promise<void> {
    for (const { name, colorScheme, size } of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      expect([path, name, await findingsOf(page)]).toEqual([path, name, []]);
      expect([path, name, await page.evaluate(TOO_WIDE)]).toEqual([path, name, false]);
    }
  }

  it('is used with the keyboard, without any script: skip to the content, filter, sort, page, columns', async () => {
    const { page, noise } = await open({ javaScriptEnabled: false });
    await signIn(page);
    await page.goto(`${SHOP}/pages`);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('name')).toBe('q');
    await page.keyboard.type('/p/0');
    await page.keyboard.press('Enter');
    const shown = async (text: string) => {
      await page.locator('.shown', { hasText: text }).waitFor();
      await page.waitForLoadState();
    };
    await shown('1 to 50 of 100 pages');
    await page.getByRole('link', { name: 'State' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('th[aria-sort=ascending]', { hasText: 'State' }).waitFor();
    await page.getByRole('link', { name: 'Next' }).focus();
    await page.keyboard.press('Enter');
    await shown('51 to 100 of 100 pages');
    expect(new URL(page.url()).search).toBe('?per=50&q=%2Fp%2F0&sort=state&page=2');

    await page.locator('summary', { hasText: 'Columns' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Sitemaps', { exact: true }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.locator('th', { hasText: 'Sitemaps' }).waitFor();
    await page.goBack();
    await page.locator('th', { hasText: 'Canonical' }).waitFor();
    expect(await page.locator('input[value=sitemaps]').isChecked()).toBe(false);
    expect(await page.getByLabel('Address contains').inputValue()).toBe('/p/0');
    expect(noise).toEqual([]);
  });
});
