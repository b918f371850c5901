import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Journal, waitingFor, withNotices } from '../../../src/app/notify/journal.js';
import { newMessage, textOf } from '../../../src/app/notify/message.js';
import { noticeOf, together } from '../../../src/app/notify/notice.js';
import { notifiedRun, sendNotices } from '../../../src/app/notify/notify.js';
import { BusyError } from '../../../src/base/exit.js';
import type { Receipt, WebsiteReceipt } from '../../../src/sync/receipt.js';
import { idAfter } from '../../../src/sync/run-clock.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { atLength, describeAtLength, once, testAtLength } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { givenNights, type Nights, urlOf } from '../../given/nights.js';
import { startService } from '../../given/service.js';
import { startReceiver, withChannels } from './given.js';

const INDEXED = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed' };
const FALLEN = { index_summary: 'Not Indexed', index_coverage_state: 'Crawled - currently not indexed' };
const PARTIAL_NIGHTS = atLength(1, 2);
const NOTHING: Receipt = { run_id: null, websites: [], followers: [] };

/** So many pages of one directory. */
function pages(directory: string, count: number, entry: object): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${directory}/${at}`, entry]));
}

/** The notices of one message, by their kinds. */
function noticesIn(body: string | undefined) {
  const { notices } = JSON.parse(body ?? '{"notices":[]}');
  return new Map<string, Record<string, unknown>>(notices.map((notice: { kind: string }) => [notice.kind, notice]));
}

/** The kinds of what these messages call right again, sorted. */
function overIn(messages: readonly { body: string }[]): string[] {
  const schema = z.object({ notices: z.array(z.object({ id: z.string() })) });
  const all = messages.flatMap(({ body }) => schema.parse(JSON.parse(body)).notices);
  return all.flatMap(({ id }) => /^over:(\w+):/.exec(id)?.[1] ?? []).sort();
}

let first: Nights;
beforeAll(async () => {
  first = await givenNights();
  await first.night({ list: pages('a', 30, INDEXED) });
});

/** One webhook that gets what `sendNotices` sends about these nights; how many days later than the last one. */
async function watching(nights: Nights, rules: object = {}, sections: object = {}) {
  const receiver = await startReceiver();
  const { config, logger } = withChannels(nights.warehouse, [{ type: 'webhook', url: receiver.url }], rules, sections);
  const send = (daysLater = 0) => sendNotices({ config, logger, now: () => nights.clock.now + daysLater * 86_400_000 });
  const notices = () => receiver.take().flatMap(({ body }) => [...noticesIn(body).values()]);
  return { config, logger, receiver, send, notices };
}

/** After a night with 30 indexed pages. */
function afterOneNight(): Promise<Nights> {
  return first.copy();
}

describe('a notice', () => {
  once('is not sent in a quiet world', async () => {
    const nights = await afterOneNight();
    const { send, receiver } = await watching(nights);
    expect(await send()).toEqual([]);
    await nights.night({ list: pages('a', 30, INDEXED) });
    expect(await send()).toEqual([]);
    expect(receiver.got).toEqual([]);
  });

  test('comes from each rule, in one message a night', async () => {
    const nights = await givenNights();
    const rules = { except: [], watch: ['/nothing/*', 'Shop', 'Of another website'] };
    const views = [
      { name: 'Shop', pages: 'directory=/checkout/&q=CHECK' },
      { name: 'Of another website', website: 'v', pages: { q: '/a/' } },
    ];
    const { send, receiver } = await watching(nights, rules, { views });
    const to = (page: string) => ({ ...INDEXED, user_selected_canonical: urlOf(page) });
    const list = {
      ...pages('a/b', 12, to('x')),
      ...pages('a/c', 51, to('x')),
      ...pages('checkout', 2, INDEXED),
      ...pages('b', 11, INDEXED),
    };
    const blocked = (value: string) => (name: string) =>
      name.startsWith('b/') ? { blocked_by_robots_txt: value } : {};
    await nights.night({ list, reports: blocked('No') });
    await send();
    expect([...noticesIn(receiver.take()[0]?.body).keys()]).toEqual(['drift']);
    const changed = {
      ...pages('a/b', 12, FALLEN),
      ...pages('a/c', 51, to('y')),
      ...pages('checkout', 1, FALLEN),
      'checkout/1': INDEXED,
      ...pages('b', 11, INDEXED),
      'b/0': { ...INDEXED, brand_new: 1 },
    };
    await nights.night({ list: changed, reports: blocked('Yes') });
    expect(await send()).toMatchObject([{ channel: 'webhook', error: null }]);
    const [message] = receiver.take();
    const found = noticesIn(message?.body);
    expect([...found.keys()]).toEqual(['indexed_drop', 'watched', 'robots_blocked', 'canonical_flips', 'drift']);
    expect(found.get('indexed_drop')).toMatchObject({
      id: `indexed_drop:w:${nights.snapshot(2)}`,
      website_id: 'w',
      count: 13,
      since: '2025-03-01',
      directory: '/a/b/',
      state: FALLEN.index_coverage_state,
      command: 'indexhouse query compare website=w since=2025-03-01 until=2025-03-02 pages=true',
      what: 'indexed pages fell from 76 to 63 (−17.1%) since 2025-03-01; 12 of those that left were in /a/b/; none of the 13 was crawled since',
    });
    expect(found.get('indexed_drop')?.['examples']).toHaveLength(5);
    expect(found.get('watched')).toMatchObject({
      count: 1,
      what: '1 watched page left the index',
      examples: [urlOf('checkout/0')],
    });
    expect(found.get('robots_blocked')).toMatchObject({ count: 11, directory: '/b/' });
    expect(found.get('canonical_flips')).toMatchObject({
      count: 51,
      what: expect.stringContaining('; none of the 51 was'),
    });
    expect(found.get('drift')?.['what']).toContain('brand_new');
    for (let partial = 1; partial <= PARTIAL_NIGHTS; partial++) {
      await nights.night({ list: changed, partial: true });
      await send();
      expect([...noticesIn(receiver.take()[0]?.body).values()]).toMatchObject([{ kind: 'partial', count: partial }]);
    }
    // Each is right again, though one of the thirteen pages is still out, and that is said once.
    const mostly = { list: { ...list, 'a/b/0': FALLEN }, reports: blocked('No') };
    await nights.night(mostly);
    await send();
    expect(overIn(receiver.take())).toEqual(['indexed_drop', 'partial', 'robots_blocked', 'watched']);
    await nights.night(mostly);
    await send();
    expect(receiver.take()).toEqual([]);
  });

  testAtLength(
    'of an old snapshot, a missed night or an unreadable file is followed by one that it is right again',
    async () => {
      const nights = await givenNights();
      const { send, notices, config, receiver } = await watching(nights);
      Object.assign(config, { hasSchedule: true });
      await nights.night({ list: pages('a', 3, INDEXED) });
      const [marker = ''] = await listTableFiles(nights.warehouse, 'snapshots');
      const whole = readFileSync(marker);
      await send(3);
      await send(3);
      expect(notices()).toMatchObject([
        { kind: 'overdue', website_id: null, what: expect.stringMatching(/^no run since .* by schedule.nightly-sync/) },
        { kind: 'stale' },
      ]);
      writeFileSync(marker, 'torn');
      await send(3);
      expect(notices()).toMatchObject([{ kind: 'unreadable' }]);
      writeFileSync(marker, whole);
      await nights.night({ list: pages('a', 3, INDEXED) });
      await send();
      await send();
      expect(overIn(receiver.take())).toEqual(['overdue', 'stale', 'unreadable']);
    },
  );

  once('of 200 websites with the same cause is one, of other causes five and the rest; none is dropped', () => {
    const website = (at: number) => ({ website_id: `site-${at}`, website_name: `shop${at}.example` });
    const all = (what: (at: number) => string) =>
      Array.from({ length: 200 }, (_, at) =>
        noticeOf(website(at), 'run', { kind: 'failed', what: what(at), count: 1, since: `2025-03-0${1 + (at % 2)}` }),
      );
    const shared = {
      website_id: null,
      websites: [0, 1, 2, 3, 4].map((at) => `shop${at}.example`),
      more_websites: 195,
      what: 'GET /v1/urls/… failed',
      count: 200,
      since: '2025-03-01',
    };
    const same = together(all((at) => `GET /v1/urls/site-${at} failed`));
    expect(same).toMatchObject([shared]);
    expect(textOf(newMessage(same, [], 0))).toMatch(
      /^shop0\.example, shop1\.example, .*shop4\.example and 195 more: GET .v1.urls.… failed\n/,
    );
    const others = together(all((at) => `reason ${at}`));
    expect(others).toHaveLength(6);
    expect(others[5]).toMatchObject({ what: 'a run failed', more_websites: 190, count: 195 });
    // A channel that accepts nothing for months gets at least the number and the kinds of what was left out.
    const channel = { type: 'webhook', url: 'http://127.0.0.1:9' } as const;
    let journal: Journal = { seen: {}, unsynced: {}, channels: {} };
    for (let run = 0; run < 103; run++) {
      const failure = noticeOf(website(0), `run-${run}`, { kind: 'failed', what: `${run}`, count: 1, since: null });
      journal = withNotices(journal, [channel], { notices: [failure], over: [], seen: {}, unsynced: {} });
    }
    const waiting = waitingFor(journal, channel);
    expect([waiting.length, waiting[0]?.what]).toEqual([101, '3']);
    expect(waiting.at(-1)).toMatchObject({
      kind: 'left_out',
      what: expect.stringMatching(/: 3 more notices left out \(3 × a run failed\)$/),
    });
  });

  testAtLength(
    'names a directory that lost too many where the website did not, unless that kind is excepted',
    async () => {
      const nights = await givenNights();
      const [off, on] = [await watching(nights, { except: ['directory_drop', 'over'] }), await watching(nights)];
      const rest = { ...pages('b', 9, INDEXED), ...pages('z', 400, INDEXED) };
      await nights.night({ list: { ...pages('a', 10, INDEXED), ...rest } });
      await on.send();
      await nights.night({
        list: { ...pages('a', 10, FALLEN), ...pages('b', 9, FALLEN), ...pages('z', 400, INDEXED) },
      });
      const journal = join(nights.warehouse, 'notices.json');
      const before = readFileSync(journal);
      expect(await off.send()).toEqual([]);
      writeFileSync(journal, before);
      await on.send();
      expect(on.notices()).toMatchObject([
        { kind: 'directory_drop', count: 10, directory: '/a/', what: expect.not.stringContaining('in all') },
      ]);
      await nights.night({ list: { ...pages('a', 10, INDEXED), ...rest } });
      await on.send();
      await on.send();
      expect(overIn(on.receiver.take())).toEqual(['directory_drop']);
    },
  );

  testAtLength('of a website that is configured and never synced comes once it has been missing for long', async () => {
    const nights = await afterOneNight();
    const { send, notices, config } = await watching(nights);
    Object.assign(config, { websites: [{ id: 'w' }, { id: 'new', name: 'new.example' }] });
    for (const days of [0, 1.9, 2.1, 4]) await send(days);
    const what = 'no snapshot yet, and it has been configured for 2d 2h';
    expect(notices().filter(({ website_id }) => website_id === 'new')).toMatchObject([
      { kind: 'stale', website_name: 'new.example', what, count: 2 },
    ]);
  });

  testAtLength('counts rejected records, which are no pages that left the index', async () => {
    const nights = await afterOneNight();
    const { send, notices } = await watching(nights, { indexed_drop: 1 });
    await send();
    await nights.night({ list: { ...pages('a', 30, INDEXED), ...pages('a', 15, { index_summary: 5 }) } });
    await send();
    expect(notices()).toMatchObject([{ kind: 'rejects', count: 15 }]);
  });

  testAtLength('covers each night since the last message', async () => {
    const nights = await afterOneNight();
    const { send, notices } = await watching(nights);
    await send();
    await nights.night({ list: pages('a', 30, FALLEN) });
    await nights.night({ list: pages('a', 30, FALLEN) });
    await send();
    expect(notices()).toMatchObject([{ kind: 'indexed_drop', id: `indexed_drop:w:${nights.snapshot(2)}` }]);
  });
});

describeAtLength('a channel', () => {
  test('that is down gets its notices later, once, and holds up no other', async () => {
    const nights = await afterOneNight();
    const [up, down] = [await startReceiver(), await startReceiver()];
    down.status = 503;
    const channels = [
      { type: 'webhook', url: `${up.url}/hook`, secret: 'a-long-secret' },
      { type: 'slack', url: `${down.url}/services/T0/B0/an-unguessable-path`, name: 'seo' },
    ];
    const { config, logger, warnings } = withChannels(nights.warehouse, channels);
    const now = () => nights.clock.now;
    await sendNotices({ config, logger, now });
    await nights.night({ list: pages('a', 30, FALLEN) });
    const sent = [
      { channel: 'webhook', type: 'webhook', notices: 1, error: null },
      { channel: 'seo', type: 'slack', notices: 1, error: 'it answered 503' },
    ];
    expect(await sendNotices({ config, logger, now })).toEqual(sent);
    expect(warnings()).toEqual([expect.stringContaining('it answered 503')]);
    down.take();
    expect(await sendNotices({ config, logger, now })).toMatchObject([{ channel: 'seo' }]);
    const statusOf = () => run(['status', '--warehouse', nights.warehouse, '--json']);
    const since = new Date(nights.clock.now).toISOString();
    const { notices, warnings: warned } = JSON.parse((await statusOf()).stdout);
    expect(notices).toEqual([{ channel: 'seo', notices: 1, since, error: 'it answered 503' }]);
    expect(warned.at(-1)).toMatch(/^1 notice has waited for seo for .*: it answered 503; the next sync/);
    down.status = 200;
    down.take();
    for (let again = 0; again < 3; again++) await sendNotices({ config, logger, now });
    expect(up.got).toHaveLength(1);
    expect(down.got).toHaveLength(1);
    expect(JSON.parse((await statusOf()).stdout).notices).toEqual([]);
    const [{ body, headers } = { body: '', headers: {} }] = up.got;
    const signature = createHmac('sha256', 'a-long-secret').update(body).digest('hex');
    expect(headers).toMatchObject({ 'x-indexhouse-signature': `sha256=${signature}` });
    expect(readFileSync(join(nights.warehouse, 'notices.json'), 'utf8')).not.toMatch(/unguessable|a-long-secret/);
  });

  test('may get a message twice if the process dies before it is recorded, and misses none', async () => {
    const nights = await afterOneNight();
    const { send, receiver } = await watching(nights);
    await send();
    await nights.night({ list: pages('a', 30, FALLEN) });
    receiver.status = 500;
    await send();
    // What stands in the journal before the message is sent; it is whole, whenever the process dies.
    const before = readFileSync(join(nights.warehouse, 'notices.json'));
    receiver.status = 200;
    receiver.take();
    await send();
    writeFileSync(join(nights.warehouse, 'notices.json'), before);
    await send();
    await send();
    expect(receiver.got.map(({ body }) => [...noticesIn(body).keys()])).toEqual([['indexed_drop'], ['indexed_drop']]);
  });
});

describe('a run', () => {
  const failing = (error: string, runId = 'run-1'): Receipt => ({ ...NOTHING, run_id: runId, error });

  once('that failed is reported once, between the pings', async () => {
    const receiver = await startReceiver();
    const { config, logger } = withChannels(join(temporaryFolder(), 'none-yet'), [
      { type: 'ping', url: `${receiver.url}/ping/uuid` },
      { type: 'webhook', url: `${receiver.url}/hook` },
    ]);
    const paths = () => receiver.got.map(({ path }) => path).sort();
    await notifiedRun({ config, logger }, async () => NOTHING);
    expect(receiver.take().map(({ path }) => path)).toEqual(['/ping/uuid/start', '/ping/uuid']);
    await notifiedRun({ config, logger }, async () => failing('no route'));
    expect(paths()).toEqual(['/hook', '/ping/uuid/fail', '/ping/uuid/start']);
    receiver.take();
    const busy = notifiedRun({ config, logger }, async () => Promise.reject(new BusyError('another runs')));
    await expect(busy).rejects.toThrow('another runs');
    const broken = notifiedRun({ config, logger }, async () => Promise.reject(new Error('the disk is gone')));
    await expect(broken).rejects.toThrow('the disk is gone');
    expect(noticesIn(receiver.got.find(({ path }) => path === '/hook')?.body).get('failed')?.['what']).toBe(
      'the disk is gone',
    );
  });

  once('that failed, had a wrong clock or a damaged journal is right again after one that did not, once', async () => {
    const nights = await givenNights();
    const { config, logger, receiver } = await watching(nights);
    const website = async (): Promise<WebsiteReceipt> => (await nights.night({ list: pages('a', 3, INDEXED) })).receipt;
    const runs: (() => Promise<Partial<Receipt>>)[] = [
      async () => ({ clock: 'the clock is an hour behind', websites: [{ ...(await website()), set_aside: 'runs/x' }] }),
      async () => ({ error: 'no route' }),
      async () => ({ websites: [await website()] }),
      async () => ({ websites: [await website()] }),
    ];
    const told: string[][] = [];
    for (const [at, made] of runs.entries()) {
      const given = { config, logger, now: () => nights.clock.now };
      const run_id = at === 0 ? '0' : idAfter('0');
      await notifiedRun(given, async () => ({ ...NOTHING, run_id, ...(await made()) }));
      const got = receiver.take();
      told.push([
        ...got.flatMap(({ body }) => [...noticesIn(body).keys()]).filter((kind) => kind !== 'over'),
        ...overIn(got),
      ]);
    }
    expect(told).toEqual([['damaged', 'clock'], ['failed', 'damaged'], ['clock', 'failed'], []]);
  });

  once('of failed reports or rejected records is right again once there are none, once', async () => {
    const nights = await givenNights();
    const { send, receiver, notices } = await watching(nights);
    const list = pages('a', 30, INDEXED);
    const reports = (name: string) => (name < 'a/2' ? 400 : undefined);
    await nights.night({ list: { ...list, ...pages('b', 3, { index_summary: 5 }) }, reports });
    await send();
    expect(notices().map(({ kind }) => kind)).toEqual(['reports', 'rejects']);
    await nights.night({ list });
    await send();
    await send();
    expect(overIn(receiver.take())).toEqual(['rejects', 'reports']);
  });

  testAtLength('that waits long is reported then and once that is over; a copy, once while it lags', async () => {
    const nights = await afterOneNight();
    const receiver = await startReceiver();
    const { config, logger } = withChannels(nights.warehouse, [{ type: 'webhook', url: receiver.url }]);
    const options = { config, logger, now: () => nights.clock.now };
    const lagging = { name: 'duckdb', behind: 1, reason: 'indexhouse.duckdb is held' };
    const outage = { website: null, of: 'the service', error: 'it answered 503', since: nights.clock.now };
    const kinds = () => receiver.take().flatMap(({ body }) => [...noticesIn(body).keys()]);
    await notifiedRun(options, async (onLongOutage) => {
      await onLongOutage({ ...outage, overAt: null });
      expect(kinds()).toEqual(['outage']);
      await onLongOutage({ ...outage, overAt: nights.clock.now + 3_700_000 });
      expect(noticesIn(receiver.take()[0]?.body).get('over')?.['what']).toContain('over after 1h 2m');
      return { ...NOTHING, run_id: 'r1', followers: [lagging] };
    });
    expect(kinds()).toEqual(['lagging']);
    const sent: string[][] = [];
    for (const followers of [[lagging], [], [lagging]]) {
      await notifiedRun(options, async () => ({ ...NOTHING, run_id: 'r2', followers }));
      sent.push(kinds());
    }
    expect(sent).toEqual([[], ['over'], ['lagging']]);
  });

  test('of sync and of the nightly job is reported, and its exit code stays', async () => {
    const receiver = await startReceiver();
    const channels = [
      { type: 'webhook', url: `${receiver.url}/hook` },
      { type: 'ping', url: `${receiver.url}/ping` },
      { type: 'command', run: ['/no/such/program'] },
    ];
    // It knows no website: that is no outage to wait for.
    const { url: baseUrl } = await startService();
    const config = writeConfig(temporaryFolder(), { baseUrl, websites: ['w'], sections: { notify: { channels } } });
    const commands = atLength([['sync']], [['sync'], ['schedule', '--once', 'nightly-sync']]);
    for (const command of commands) {
      expect(await run([...command, '--config', config])).toMatchObject({ code: 1 });
      const got = receiver.take();
      expect(got.map(({ path }) => path).sort()).toEqual(['/hook', '/ping/fail', '/ping/start']);
      expect([...noticesIn(got.find(({ path }) => path === '/hook')?.body).keys()]).toEqual(['failed']);
    }
    expect(await run(['sync', '--recover', '--config', config])).toMatchObject({ code: 0 });
    const again = await run(['notify', '--config', config]);
    expect([again.code, again.stdout]).toEqual([
      1,
      expect.stringMatching(
        atLength(/^! command: did not accept 1 notice: .*ENOENT/, /^! command: did not accept 2 notices: .*ENOENT/),
      ),
    ]);
    expect(receiver.got).toEqual([]);
  });

  testAtLength('goes on where no channel answers, and sends no token', async () => {
    const nights = await afterOneNight();
    const receiver = await startReceiver();
    const { config, logger, warnings } = withChannels(nights.warehouse, [
      { type: 'ping', url: 'http://127.0.0.1:9/gone' },
      { type: 'teams', url: 'http://127.0.0.1:9/gone' },
      { type: 'webhook', url: `${receiver.url}/hook/unguessable` },
    ]);
    const error = `refused: Bearer ${config.api.token} at ${receiver.url}/hook/unguessable`;
    expect(await notifiedRun({ config, logger, now: () => nights.clock.now }, async () => failing(error))).toEqual(
      failing(error),
    );
    expect(warnings()).toHaveLength(3);
    expect(receiver.got).toHaveLength(1);
    expect(receiver.got[0]?.body).toContain('refused: Bearer [secret]');
    for (const secret of [config.api.token, 'unguessable']) {
      expect(receiver.got[0]?.body).not.toContain(secret);
      expect(readFileSync(join(nights.warehouse, 'notices.json'), 'utf8')).not.toContain(secret);
    }
    await notifiedRun({ config, logger, now: () => nights.clock.now }, async () => failing(error));
    expect(receiver.got).toHaveLength(1);
  });
});
