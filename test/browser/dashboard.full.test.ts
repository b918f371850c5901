import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Dashboard, HOSTILE, pageAt, SHOP_NIGHTS, SHOP_TOKEN, startDashboard } from '../dashboard/given.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { launch, SKIPPED, seriousFindings, watched } from './browser.js';

const SHOP = '/dashboard/websites/shop';
const PAGES = [
  '/dashboard/',
  SHOP,
  `${SHOP}/changes`,
  `${SHOP}/changes?q=nothing`,
  `${SHOP}/pages?sort=-state&columns=state,declared,crawl,fetch,robots,crawler,sitemaps,first_seen`,
  `${SHOP}/page?url=${encodeURIComponent(pageAt(5))}`,
  `${SHOP}/page?url=${encodeURIComponent(HOSTILE[3] ?? '')}`,
  `${SHOP}/compare?from=2025-03-01`,
  `${SHOP}/runs`,
];
const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
const LOOKS = [
  { name: 'light', colorScheme: 'light', size: WIDE },
  { name: 'dark, on a phone', colorScheme: 'dark', size: PHONE },
] as const;
const TOO_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

describe.skipIf(SKIPPED !== '')(`the dashboard in a browser${SKIPPED}`, () => {
  let shop: BuiltWarehouse;
  let dashboard: Dashboard;
  let browser: Browser;

  beforeAll(async () => {
    shop = await buildWarehouse(SHOP_NIGHTS);
    dashboard = await startDashboard(shop.path);
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.close();
    shop?.remove();
  });

  async function open(options: BrowserContextOptions = {}): Promise<{ page: Page; noise: string[] }> {
    const context = await browser.newContext({ baseURL: dashboard.origin, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
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
      expect([path, name, await seriousFindings(page)]).toEqual([path, name, []]);
      expect([path, name, await page.evaluate(TOO_WIDE)]).toEqual([path, name, false]);
    }
  }

  it('is used with the keyboard: skip to the content, filter, sort, leaf', async () => {
    const { page, noise } = await open();
    await signIn(page);
    await page.goto(`${SHOP}/pages`);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('name')).toBe('q');
    await page.keyboard.type('/p/0');
    await page.keyboard.press('Enter');
    await page.locator('#shown', { hasText: '100 pages' }).waitFor();
    expect(await page.getByRole('status').textContent()).toBe('1 to 50 of 100 pages');

    await page.getByRole('link', { name: 'State' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('th[aria-sort=ascending]', { hasText: 'State' }).waitFor();
    expect(await page.locator(':focus').textContent()).toContain('State');
    await page.keyboard.press('Enter');
    await page.locator('th[aria-sort=descending]', { hasText: 'State' }).waitFor();
    await page.getByRole('link', { name: 'Next' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#shown', { hasText: '51 to 100 of 100 pages' }).waitFor();
    expect(new URL(page.url()).search).toBe('?per=50&q=%2Fp%2F0&sort=-state&page=2');

    await page.goBack();
    await page.locator('#shown', { hasText: '1 to 50' }).waitFor();
    expect(await page.getByLabel('Address contains').inputValue()).toBe('/p/0');
    expect(noise).toEqual([]);
  });

  it('asks for nothing where a step leads to another place of the same page, and leaves what is typed', async () => {
    const { page } = await open();
    await signIn(page);
    await page.goto(`${SHOP}/pages`);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'fetch') asked.push(new URL(request.url()).search);
    });
    await page.getByLabel('Address contains').fill('typed');
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#content$/);
    await page.goBack();
    await page.getByRole('link', { name: 'State' }).click();
    await page.locator('th[aria-sort=ascending]', { hasText: 'State' }).waitFor();
    expect(await page.getByLabel('Address contains').inputValue()).toBe('typed');
    expect(asked).toEqual(['?per=50&sort=state']);
  });

  it('shows with a script what it shows without', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const { page, noise } = await open({ javaScriptEnabled });
      await signIn(page);
      await page.goto(`${SHOP}/pages`);
      await page.getByRole('link', { name: 'no', exact: true }).click();
      await page.locator('#shown', { hasText: '37 pages' }).waitFor();
      await page.locator('summary', { hasText: 'Columns' }).click();
      await page.getByLabel('Sitemaps').check();
      await page.getByRole('button', { name: 'Show' }).click();
      await page.locator('th', { hasText: 'Sitemaps' }).waitFor();
      await page.getByRole('link', { name: 'Page', exact: true }).click();
      await page.locator('th[aria-sort=descending]', { hasText: 'Page' }).waitFor();
      expect(await page.getByRole('link', { name: '(take back)' }).textContent()).toBe('no ✕ (take back)');
      expect(await page.locator('tbody tr').count()).toBe(37);
      expect(await page.locator('thead th').last().textContent()).toBe('Sitemaps');
      await page.getByRole('link', { name: pageAt(4) }).click();
      await page.getByRole('heading', { name: pageAt(4) }).waitFor();
      await page.goto(SHOP);
      // What only a script can do is not offered without one.
      expect(await page.locator('.reading, .reader').count()).toBe(javaScriptEnabled ? 2 : 0);
      expect(noise).toEqual([]);
    }
  });

  it('shows the columns that are ticked, and ticks those that are shown after a step back', async () => {
    const { page, noise } = await open();
    await signIn(page);
    await page.goto(`${SHOP}/pages?q=/p/&sort=-state`);
    await page.locator('summary', { hasText: 'Columns' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Canonical', { exact: true }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('combobox', { name: 'Rows' }).selectOption('25');
    await page.getByLabel('Sitemaps').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.locator('th', { hasText: 'Sitemaps' }).waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.locator('#shown', { hasText: '26 to' }).waitFor();
    const heads = await page.locator('thead th').allTextContents();
    expect(heads).toEqual(['Page', 'Indexed', 'State ▼', 'Last crawl', 'Report age', 'Sitemaps']);
    await page.goBack();
    await page.goBack();
    await page.locator('th', { hasText: 'Canonical' }).waitFor();
    expect(await page.locator('input[value=canonical]').isChecked()).toBe(true);
    expect(await page.locator('input[value=sitemaps]').isChecked()).toBe(false);
    expect(await page.getByRole('combobox', { name: 'Rows' }).inputValue()).toBe('50');
    expect(noise).toEqual([]);
  });

  it('shows the numbers of the trend to the keyboard, the pointer and a finger, where they stand', async () => {
    const { page, noise } = await open({ viewport: WIDE, hasTouch: true });
    await signIn(page);
    await page.goto(SHOP);
    const slider = page.getByRole('slider', { name: 'Share of the pages that is indexed' });
    for (const size of [WIDE, PHONE]) {
      await page.setViewportSize(size);
      await slider.focus();
      await page.keyboard.press('Home');
      expect(await page.locator('.reading').innerText()).toMatch(/^2025-03-01\s+Pages 124\s+Indexed 86/);
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowRight');
      expect(await slider.getAttribute('aria-valuetext')).toBe(
        '2025-03-02: Pages 124, Indexed 77, Not indexed 37, Without data 10, Share indexed 62.1%',
      );
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowRight');
      expect(await slider.getAttribute('aria-valuenow')).toBe('4');
      await page.getByRole('heading', { level: 1 }).click();
      expect(await page.locator('.reading').innerText()).toMatch(/^Point at the chart/);
      await readByPointing(page);
    }
    expect(noise).toEqual([]);
  });

  /** Points below the dot of each date a little beside its middle: the marker goes through the middle. */
  async function readByPointing(page: Page): Promise<void> {
    await page.locator('.reader').scrollIntoViewIfNeeded();
    for (const at of [0, 1, 2, 3]) {
      const dot = await page.locator('.readable svg:visible path[fill="#2f6fb3"]').nth(at).boundingBox();
      if (!dot) throw new Error(`no dot ${at}`);
      const [middle, low] = [dot.x + dot.width / 2, dot.y + dot.height / 2];
      if (at % 2 === 0) await page.mouse.move(middle + 4, low);
      else await page.touchscreen.tap(middle - 4, low);
      expect(await page.locator('.reading').innerText()).toContain(`2025-03-0${at + 1}`);
      const marker = await page.locator('.readable svg:visible .marker').evaluate((line) => {
        const { left, right } = line.getBoundingClientRect();
        return (left + right) / 2;
      });
      expect(Math.abs(marker - middle)).toBeLessThan(1);
    }
  }

  it('shows the page of the interface from its own files alone, and sends a request with a key', async () => {
    const { page, noise } = await open();
    await page.goto('/docs');
    await page.getByText('Index coverage').waitFor();
    expect(noise).toEqual([]);
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.locator('.auth-container input').fill('wrong');
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.btn-done').click();
    await page.locator('.opblock-summary').first().click();
    await page.locator('.try-out__btn').click();
    await page.locator('.execute').click();
    await page.locator('.live-responses-table', { hasText: 'A valid API key is required.' }).waitFor();
  });
});
