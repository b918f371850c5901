import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { buildServer } from '../../../src/serve/api/http.js';
import type { RequestContext } from '../../../src/serve/api/store.js';
import { LiveReader } from '../../../src/serve/store/live-reader.js';
import { QuestionQueue } from '../../../src/serve/store/question-queue.js';
import { MEMORY_LIMIT } from '../../given/served.js';
import { keyTo } from '../../given/service.js';
import { buildWarehouse } from '../../given/warehouse.js';
import { storeOf } from '../scripted-store.js';

/** It would compute for days. */
const ENDLESS = 'select count(*) as n from range(1000000000000) as numbers(n) where hash(n) = 1';
const countRow = z.object({ n: z.coerce.number() });

function client(keyId: string): RequestContext & { leave: () => void } {
  const controller = new AbortController();
  return { keyId, signal: controller.signal, leave: () => controller.abort(new Error(`${keyId} left`)) };
}

/** Work that ends on demand, and what began of such work, in order. */
function scripted() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async (signal: AbortSignal) => {
    begun.push(name);
    await new Promise<void>((resolve, reject) => {
      ends.set(name, resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    return name;
  };
  return { begun, work, end: (name: string) => ends.get(name)?.() };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('questions of many keys', () => {
  it('take turns: who asks a lot waits behind who asks a little', async () => {
    const queue = new QuestionQueue();
    const { begun, work, end } = scripted();
    const ask = (keyId: string, name: string) => queue.run(client(keyId), 'slow', work(name));
    const answers = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1'), ask('c', 'c1')];
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    end('a1');
    await settled();
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    for (const name of ['b1', 'c1', 'a2', 'a3']) {
      end(name);
      await settled();
    }
    expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
  });

  it('that are quick or SQL take places of their own, SQL for less time while other keys wait', async () => {
    const queue = new QuestionQueue(60_000, 1);
    const { work } = scripted();
    const endless = ['a', 'b', 'c', 'd'].map((key) =>
      queue.run(client(key), 'sql', work(key)).catch(({ message }) => message),
    );
    expect(await queue.run(client('e'), 'slow', async () => 'a page of the dashboard')).toBe('a page of the dashboard');
    expect(await queue.run(client('e'), 'sql', async () => 'a statement')).toBe('a statement');
    expect(await queue.run(client('a'), 'quick', async () => 'quick')).toBe('quick');
    queue.interrupt();
    const [over, ends] = ['Statements of others wait for this one. Try again later.', 'The service is shutting down.'];
    expect(await Promise.all(endless)).toEqual([over, over, expect.any(String), ends]);
  });

  it('are refused where too many of one key wait, and only of that key', async () => {
    const queue = new QuestionQueue();
    const { work } = scripted();
    const waiting = Array.from({ length: 21 }, (_, number) => queue.run(client('a'), 'slow', work(`a${number}`)));
    const ended = Promise.allSettled(waiting);
    await settled();
    await expect(queue.run(client('a'), 'slow', work('more'))).rejects.toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
    });
    expect(await queue.run(client('b'), 'slow', async () => 'b')).toBe('b');
    queue.interrupt();
    await ended;
  });

  it('are forgotten when their client leaves, before their turn and during it', async () => {
    const queue = new QuestionQueue();
    const { begun, work } = scripted();
    const [running, waiting] = [client('a'), client('a')];
    const answers = [queue.run(running, 'slow', work('a1')), queue.run(waiting, 'slow', work('a2'))];
    const ended = Promise.allSettled(answers);
    await settled();
    waiting.leave();
    running.leave();
    expect(await ended).toMatchObject([{ reason: new Error('a left') }, { reason: new Error('a left') }]);
    expect(await queue.run(client('a'), 'slow', async () => 'next')).toBe('next');
    expect(begun).toEqual(['a1']);
  });

  it('are given up behind their time', async () => {
    const queue = new QuestionQueue(1);
    const { work } = scripted();
    const late = queue.run(client('a'), 'slow', work('a'));
    await expect(late).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  });
});

describe('a client of a served warehouse', () => {
  let reader: LiveReader;
  beforeAll(async () => {
    const lists = Object.fromEntries(['w', 'v'].map((id) => [id, [{ url: `https://${id}.example/` }]]));
    const { path: warehouse } = await buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists }]);
    reader = new LiveReader({ warehouse, memoryLimit: MEMORY_LIMIT });
    return () => reader.close();
  });

  it('ends its question in the engine when it leaves, and others are answered meanwhile', async () => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const app = buildServer({
      ...storeOf(new Map([['w', []]])),
      findKey: async (token) => ({ ...keyTo(['w']), _id: token }),
      listCoverage: (_website, { limit }, _query, context) =>
        reader.ask(context, 'slow', async (opened) => {
          if (limit === 1) begin();
          const rows = await opened.rows(countRow, limit === 1 ? ENDLESS : 'select count(*) as n from pages');
          return { entries: [], count: rows[0]?.n ?? 0 };
        }),
    });
    onTestFinished(() => app.close());
    const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/urls/w`;
    const read = async (key: string, limit: number, signal: AbortSignal | null = null): Promise<unknown> =>
      (await fetch(`${url}?limit=${limit}`, { headers: { authorization: `Bearer ${key}` }, signal })).json();
    const client = new AbortController();
    const abandoned = expect(read('a', 1, client.signal)).rejects.toThrow('aborted');
    await begun;
    expect(await read('b', 2)).toMatchObject({ pagination: { count: 2 } });
    expect((await reader.websites()).map(({ id }) => id)).toEqual(['v', 'w']);
    client.abort();
    await abandoned;
    // Only one slow question of a key runs at a time.
    expect(await read('a', 2)).toMatchObject({ pagination: { count: 2 } });
  });
});
