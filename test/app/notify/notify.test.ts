import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Journal, waitingFor, withNotices } from '../../../src/app/notify/journal.js';
import { newMessage, textOf } from '../../../src/app/notify/message.js';
import { noticeOf, together } from '../../../src/app/notify/notice.js';
import { notifiedRun, sendNotices } from '../../../src/app/notify/notify.js';
import { BusyError } from '../../../src/base/exit.js';
import type { Receipt } from '../../../src/sync/receipt.js';
import { idAfter } from '../../../src/sync/run-clock.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { givenNights, type Nights, urlOf } from '../../given/nights.js';
import { startService } from '../../given/service.js';
import { FALLEN, INDEXED, NOTHING, noticesIn, overIn, pages, startReceiver, watching, withChannels } from './given.js';

/** A night with 30 indexed pages. */
let first: Nights;
beforeAll(async () => {
  first = await givenNights();
  await first.night({ list: pages('a', 30, INDEXED) });
});

describe('a notice', () => {
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
    await send();
    const found = noticesIn(receiver.take()[0]?.body);
    expect([...found.keys()]).toEqual(['indexed_drop', 'watched', 'robots_blocked', 'canonical_flips', 'drift']);
    expect(found.get('indexed_drop')).toMatchObject({
      ...{ id: `indexed_drop:w:${nights.snapshot(2)}`, website_id: 'w', count: 13, since: '2025-03-01' },
      ...{ directory: '/a/b/', state: FALLEN.index_coverage_state, examples: { length: 5 } },
      command: 'indexhouse query compare website=w since=2025-03-01 until=2025-03-02 pages=true',
      what: 'indexed pages fell from 76 to 63 (−17.1%) since 2025-03-01; 12 of those that left were in /a/b/; none of the 13 was crawled since',
    });
    expect(found.get('watched')).toMatchObject({ count: 1, examples: [urlOf('checkout/0')] });
    expect(found.get('robots_blocked')).toMatchObject({ count: 11, directory: '/b/' });
    expect(found.get('canonical_flips')).toMatchObject({ count: 51 });
    expect(found.get('drift')?.['what']).toContain('brand_new');
    const rejected = pages('r', 15, { index_summary: 5 });
    const refused = (name: string) => (name.startsWith('a/c/') ? 400 : blocked('Yes')(name));
    await nights.night({ list: { ...changed, ...rejected }, partial: true, reports: refused });
    await send();
    expect([...noticesIn(receiver.take()[0]?.body).values()]).toMatchObject([
      { kind: 'reports', count: 51 },
      { kind: 'partial', count: 1 },
      { kind: 'rejects', count: 15 },
    ]);
    // Each is right again, though one of the thirteen pages is still out, and that is said once.
    await nights.night({ list: { ...list, 'a/b/0': FALLEN }, reports: blocked('No') });
    await send();
    const over = ['indexed_drop', 'partial', 'rejects', 'reports', 'robots_blocked', 'watched'];
    expect(overIn(receiver.take())).toEqual(over);
  });

  test('of an old snapshot, a missed night or an unreadable file is followed by one that it is right again', async () => {
    const nights = await first.copy();
    const { send, notices, config, receiver } = await watching(nights);
    Object.assign(config, { hasSchedule: true, websites: [{ id: 'w' }, { id: 'new', name: 'new.example' }] });
    const [marker = ''] = await listTableFiles(nights.warehouse, 'snapshots');
    const whole = readFileSync(marker);
    for (const days of [0, 1.9]) await send(days);
    expect(notices()).toMatchObject([
      { kind: 'overdue', website_id: null, what: expect.stringMatching(/^no run since .* by schedule.nightly-sync/) },
    ]);
    await send(2.1);
    const never = 'no snapshot yet, and it has been configured for 2d 2h';
    expect(notices()).toMatchObject([
      { kind: 'stale', website_id: 'w' },
      { kind: 'stale', website_id: 'new', website_name: 'new.example', what: never, count: 2 },
    ]);
    writeFileSync(marker, 'torn');
    await send(3);
    expect(notices()).toMatchObject([{ kind: 'unreadable' }]);
    writeFileSync(marker, whole);
    await nights.night({ list: pages('a', 30, INDEXED) });
    await send();
    expect(overIn(receiver.take())).toEqual(['overdue', 'stale', 'unreadable']);
  });

  test('of 200 websites with the same cause is one, of other causes five and the rest; none is dropped', () => {
    const website = (at: number) => ({ website_id: `site-${at}`, website_name: `shop${at}.example` });
    const all = (what: (at: number) => string) =>
      Array.from({ length: 200 }, (_, at) =>
        noticeOf(website(at), 'run', { kind: 'failed', what: what(at), count: 1, since: `2025-03-0${1 + (at % 2)}` }),
      );
    const same = together(all((at) => `GET /v1/urls/site-${at} failed`));
    expect(same).toMatchObject([
      {
        ...{ website_id: null, websites: [0, 1, 2, 3, 4].map((at) => `shop${at}.example`), more_websites: 195 },
        ...{ what: 'GET /v1/urls/… failed', count: 200, since: '2025-03-01' },
      },
    ]);
    expect(textOf(newMessage(same, [], 0))).toMatch(/^shop0\.example, .*shop4\.example and 195 more: GET /);
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

  test('reaches a channel that is down later, once; it holds up no other', async () => {
    const nights = await first.copy();
    const [up, down] = [await startReceiver(), await startReceiver()];
    down.status = 503;
    const channels = [
      { type: 'webhook', url: `${up.url}/hook`, secret: 'a-long-secret' },
      { type: 'slack', url: `${down.url}/services/T0/B0/an-unguessable-path`, name: 'seo' },
    ];
    const { config, logger, warnings } = withChannels(nights.warehouse, channels);
    const send = () => sendNotices({ config, logger, now: () => nights.clock.now });
    await nights.night({ list: pages('a', 30, FALLEN) });
    expect(await send()).toEqual([
      { channel: 'webhook', type: 'webhook', notices: 1, error: null },
      { channel: 'seo', type: 'slack', notices: 1, error: 'it answered 503' },
    ]);
    expect(warnings()).toEqual([expect.stringContaining('it answered 503')]);
    expect(await send()).toMatchObject([{ channel: 'seo' }]);
    const { notices } = JSON.parse((await run(['status', '--warehouse', nights.warehouse, '--json'])).stdout);
    const since = new Date(nights.clock.now).toISOString();
    expect(notices).toEqual([{ channel: 'seo', notices: 1, since, error: 'it answered 503' }]);
    const journal = join(nights.warehouse, 'notices.json');
    const before = readFileSync(journal);
    down.status = 200;
    down.take();
    await send();
    expect(down.take()).toHaveLength(1);
    // A process that dies before it records that it sent a message sends it again, rather than none.
    writeFileSync(journal, before);
    await send();
    expect(down.got).toHaveLength(1);
    expect(up.got).toHaveLength(1);
    const [{ body, headers } = { body: '', headers: {} }] = up.got;
    expect(noticesIn(body).get('indexed_drop')).toMatchObject({ id: `indexed_drop:w:${nights.snapshot(2)}` });
    const signature = createHmac('sha256', 'a-long-secret').update(body).digest('hex');
    expect(headers).toMatchObject({ 'x-indexhouse-signature': `sha256=${signature}` });
    expect(readFileSync(journal, 'utf8')).not.toMatch(/unguessable|a-long-secret/);
  });
});

describe('a run', () => {
  test('that failed is reported once, between the pings and without secrets; no channel holds it up', async () => {
    const receiver = await startReceiver();
    const warehouse = temporaryFolder();
    const { config, logger, warnings } = withChannels(warehouse, [
      { type: 'ping', url: `${receiver.url}/ping/uuid` },
      { type: 'webhook', url: `${receiver.url}/hook/unguessable` },
      { type: 'teams', url: 'http://127.0.0.1:9/gone' },
    ]);
    const notified = (ending: () => Promise<Receipt>) => notifiedRun({ config, logger }, ending);
    const taken = () => {
      const got = receiver.take();
      return { got, paths: got.map(({ path }) => path).sort() };
    };
    await notified(async () => NOTHING);
    expect(taken().paths).toEqual(['/ping/uuid', '/ping/uuid/start']);
    const error = `refused: Bearer ${config.api.token} at ${receiver.url}/hook/unguessable`;
    const failed = { ...NOTHING, run_id: 'run-1', error };
    expect(await notified(async () => failed)).toEqual(failed);
    const { got, paths } = taken();
    expect(paths).toEqual(['/hook/unguessable', '/ping/uuid/fail', '/ping/uuid/start']);
    expect(warnings()).toContainEqual(expect.stringContaining('did not accept its notices'));
    const [body = ''] = got.flatMap(({ body }) => (body === '' ? [] : [body]));
    expect(body).toContain('refused: Bearer [secret]');
    for (const text of [body, readFileSync(join(warehouse, 'notices.json'), 'utf8')])
      for (const secret of [config.api.token, 'unguessable']) expect(text).not.toContain(secret);
    await notified(async () => failed);
    await expect(notified(() => Promise.reject(new BusyError('another runs')))).rejects.toThrow('another runs');
    expect(taken().paths).not.toContain('/hook/unguessable');
    await expect(notified(() => Promise.reject(new Error('the disk is gone')))).rejects.toThrow('the disk is gone');
    const [broken] = taken().got.flatMap(({ body }) => (body === '' ? [] : [noticesIn(body)]));
    expect(broken?.get('failed')?.['what']).toBe('the disk is gone');
  });

  test('that failed, had a wrong clock or a damaged journal is right again after one that did not, once', async () => {
    const nights = await first.copy();
    const { config, logger, receiver } = await watching(nights);
    // Nine pages are too few for a drop.
    const list = { ...pages('a', 30, INDEXED), ...pages('a', 9, FALLEN) };
    const { receipt: website } = await nights.night({ list });
    const runs: Partial<Receipt>[] = [
      { clock: 'the clock is an hour behind', websites: [{ ...website, set_aside: 'runs/x' }] },
      { error: 'no route' },
      { websites: [website] },
      { websites: [website] },
    ];
    const told: string[][] = [];
    for (const [at, made] of runs.entries()) {
      const receipt = { ...NOTHING, run_id: at === 0 ? '0' : idAfter('0'), ...made };
      await notifiedRun({ config, logger, now: () => nights.clock.now }, async () => receipt);
      const got = receiver.take();
      const kinds = got.flatMap(({ body }) => [...noticesIn(body).keys()]).filter((kind) => kind !== 'over');
      told.push([...kinds, ...overIn(got)]);
    }
    expect(told).toEqual([['damaged', 'clock'], ['failed', 'damaged'], ['clock', 'failed'], []]);
  });

  test('of a command is reported, and its exit code stays', async () => {
    const receiver = await startReceiver();
    const channels = [
      { type: 'webhook', url: `${receiver.url}/hook` },
      { type: 'ping', url: `${receiver.url}/ping` },
      { type: 'command', run: ['/no/such/program'] },
    ];
    // It knows no website: that is no outage to wait for.
    const { url: baseUrl } = await startService();
    const config = writeConfig(temporaryFolder(), { baseUrl, websites: ['w'], sections: { notify: { channels } } });
    expect(await run(['sync', '--config', config])).toMatchObject({ code: 1 });
    expect(
      receiver
        .take()
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['/hook', '/ping/fail', '/ping/start']);
    const stdout = expect.stringMatching(/^! command: did not accept 1 notice: .*ENOENT/);
    expect(await run(['notify', '--config', config])).toMatchObject({ code: 1, stdout });
    expect(receiver.got).toEqual([]);
  });
});
