import { createLogger } from '../../../src/base/observe/log.js';
import { type RemoveOptions, remove } from '../../../src/warehouse/removal/remove.js';
import { givenNights, type Night } from '../../given/nights.js';
import { configFor } from '../../given/warehouse.js';

type OnFinished = Parameters<typeof givenNights>[0];

export function removeNow(warehouse: string, target: RemoveOptions['target'], sections = {}) {
  const config = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse, sections });
  return remove({ config, target, confirm: async () => {}, logger: createLogger({ level: 'silent' }) });
}

/**
 * A warehouse after these nights. Reports are requested only where a page is listed, so that the same ones are asked for whatever was there before.
 */
export async function warehouseOf(nights: readonly Night[], without: readonly number[], onFinished?: OnFinished) {
  const made = await givenNights(onFinished);
  const names = new Set(nights.flatMap(({ list }) => Object.keys(list)));
  for (const [at, night] of nights.entries()) {
    const never = [...names].filter((name) => !Object.hasOwn(night.list, name)).map((name) => `/${name}`);
    if (without.includes(at + 1)) made.skip();
    else await made.night({ ...night, sections: { reports: { priority: { never } } } });
  }
  return made;
}

/** Answers that are not tried again, which would take a random time. */
export function randomNight(random: () => number): Night {
  const one = <const T extends unknown[]>(...values: T): T[number] => values[Math.floor(random() * values.length)];
  const entry = () => ({
    index_summary: one('Indexed', 'Indexed', 'Not Indexed', null, 5),
    index_coverage_state: one('Submitted and indexed', 'Crawled - currently not indexed', null),
    last_crawl_time: one('2025-02-01T00:00:00Z', '2025-02-02T00:00:00Z', null),
  });
  const report = () =>
    one(404, 418, { page_fetch_status: one('Successful', 'Soft 404', 7) }, { blocked_by_robots_txt: one('Yes', 'No') });
  const listed = [...'abcdef'].filter(() => random() < 0.7);
  const reports = Object.fromEntries(listed.map((name) => [name, report()]));
  return { list: Object.fromEntries(listed.map((name) => [name, entry()])), partial: random() < 0.2, reports };
}
