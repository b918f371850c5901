import { describe, expect, it, onTestFinished } from 'vitest';
import { reportPage } from '../../src/answers/report/page.js';
import { givenWarehouse, reportOf } from '../answers/report/given.js';
import { NIGHTS } from '../serve/dashboard/given.js';
import { findingsOf, launch, SKIPPED } from './browser.js';

const PHONE = { width: 390, height: 844 };
const LOOKS = [
  { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { colorScheme: 'dark', viewport: PHONE },
] as const;
const SIZE = '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]';

describe.skipIf(SKIPPED !== '')(`a report in a browser${SKIPPED}`, () => {
  const shop = givenWarehouse(NIGHTS);

  it('is accessible and not wider than the screen; its first page fits one sheet and two screens of a phone', async () => {
    const { report } = await reportOf(shop, { website: 'shop' });
    const browser = await launch();
    onTestFinished(() => browser.close());
    for (const { colorScheme, viewport } of LOOKS) {
      const page = await browser.newPage({ colorScheme, viewport });
      for (const isBrief of [false, true]) {
        await page.setContent(reportPage(report, isBrief).replace(/<meta http-equiv[^>]*>/, ''));
        for (const closed of await page.locator('summary').all()) await closed.click();
        expect([colorScheme, await findingsOf(page)]).toEqual([colorScheme, []]);
        const [width, height] = (await page.evaluate(SIZE)) as [number, number];
        expect(width).toBe(viewport.width);
        if (isBrief && viewport === PHONE) expect(height).toBeLessThanOrEqual(2 * PHONE.height);
      }
      await page.emulateMedia({ media: 'print' });
      const sheets = (await page.pdf({ preferCSSPageSize: true })).toString('latin1').match(/\/Type\s*\/Page\b/g);
      expect(sheets).toHaveLength(1);
    }
  });
});
