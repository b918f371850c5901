import { expect, test } from 'vitest';
import { sync } from '../given/client-clock.js';
import { temporaryFolder } from '../given/folder.js';
import { pagesOf, type ScriptedWebsite, startService, windowOf } from '../given/service.js';
import { Clock, configFor } from '../given/warehouse.js';

const HUGE = 150;

/** The small website's listing is answered when ten reports of the huge one are. */
function websites(): Record<string, ScriptedWebsite> {
  let answered = 0;
  let answerSmall = () => {};
  // Slow enough that there is something left when the small one begins.
  let pause = 60;
  return {
    huge: {
      listing: (window) => windowOf(pagesOf('huge', HUGE), window),
      report: (url) => {
        answered += 1;
        if (answered === 10) answerSmall();
        return (response) => void setTimeout(() => response.end(JSON.stringify({ url })), pause);
      },
    },
    small: {
      listing: (window) => (response) => {
        answerSmall = () => void response.end(windowOf(pagesOf('small', 9), window).body);
      },
      report: (url) => {
        pause = 8;
        return (response) => void response.end(JSON.stringify({ url }));
      },
    },
  };
}

test('a huge website and a small one take turns on their key', async () => {
  const service = await startService(websites());
  const config = configFor({
    baseUrl: service.url,
    warehouse: `${temporaryFolder()}/warehouse`,
    sections: { api: { concurrency: 3 } },
  });
  await sync({
    config: { ...config, websites: [{ id: 'huge' }, { id: 'small' }] },
    effects: new Clock().effects,
  });
  const ofSmall = service.requests.flatMap((request, at) => (request.includes('small.example') ? [at] : []));
  const [first = 0, last = 0] = [ofSmall.at(0), ofSmall.at(-1)];
  expect([service.requests.length, ofSmall.length]).toEqual([2 + HUGE + 9, 9]);
  expect(last - first).toBeGreaterThan(10);
  expect(last - first).toBeLessThan(30);
});
