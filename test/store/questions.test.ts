import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { RequestContext } from '../../src/service/store.js';
import { LiveReader } from '../../src/store/live-reader.js';
import { QuestionQueue } from '../../src/store/question-queue.js';
import { temporaryFolder } from '../given/folder.js';
import { warehouseIn } from '../given/served.js';
import { startScriptedService } from '../given/service.js';
import { syncAt } from '../given/warehouse.js';

/** It would compute for days. */
const ENDLESS = 'select count(*) as n from range(1000000000000) as numbers(n) where hash(n) = 1';

function client(keyId: string): RequestContext & { leave: () => void } {
  const controller = new AbortController();
  return { keyId, signal: controller.signal, leave: () => controller.abort(new Error(`${keyId} left`)) };
}

/** Work that ends when it is told to, and what began of such work, in order. */
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

/** Lets everything happen that needs nothing else to happen. */
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

  it('that are quick do not wait for slow ones', async () => {
    const queue = new QuestionQueue();
    const { work } = scripted();
    const slow = ['a', 'b', 'c'].map((key) => queue.run(client(key), 'slow', work(key)).catch(() => 'ended'));
    expect(await queue.run(client('a'), 'quick', async () => 'quick')).toBe('quick');
    queue.interrupt();
    expect(await Promise.all(slow)).toEqual(['ended', 'ended', 'ended']);
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

  it('that wait are refused when the service ends; those that run may end until they are interrupted', async () => {
    const queue = new QuestionQueue();
    const { work, end } = scripted();
    const [first, other, waiting] = [
      queue.run(client('a'), 'slow', work('a1')),
      queue.run(client('b'), 'slow', work('b1')),
      queue.run(client('a'), 'slow', work('a2')),
    ];
    const ending = { status: 503, headers: { connection: 'close' } };
    const refused = expect(waiting).rejects.toMatchObject(ending);
    const interrupted = expect(other).rejects.toMatchObject(ending);
    await settled();
    queue.refuse();
    await refused;
    await expect(queue.run(client('c'), 'quick', work('c'))).rejects.toMatchObject(ending);
    end('a1');
    expect(await first).toBe('a1');
    queue.interrupt();
    await interrupted;
  });
});

describe('a question to a warehouse', () => {
  it('ends in the engine when its client leaves, and others are answered meanwhile', async () => {
    const service = await startScriptedService();
    onTestFinished(() => service.close());
    service.list('w', [{ url: 'https://w.example/' }]);
    const warehouse = warehouseIn(temporaryFolder());
    await syncAt({ baseUrl: service.baseUrl, warehouse, at: '2025-03-01T02:00:00Z', websites: ['w'] });
    const reader = new LiveReader({ warehouse, memoryLimit: 256_000_000 });
    onTestFinished(() => reader.close());
    const count = z.object({ n: z.coerce.number() });
    const endless = client('a');
    let wasBegun = () => {};
    const begun = new Promise<void>((resolve) => {
      wasBegun = resolve;
    });
    const heavy = reader.ask(endless, 'slow', ({ engine }) => {
      wasBegun();
      return engine.rows(count, ENDLESS);
    });
    const abandoned = expect(heavy).rejects.toThrow('a left');
    await begun;
    const pages = 'select count(*) as n from pages';
    expect(await reader.ask(client('b'), 'slow', ({ engine }) => engine.rows(count, pages))).toEqual([{ n: 1 }]);
    expect((await reader.websites()).map(({ id }) => id)).toEqual(['w']);
    endless.leave();
    await abandoned;
    // The connection that it was asked on answers again: only one slow question of a key runs at a time.
    expect(await reader.ask(client('a'), 'slow', ({ engine }) => engine.rows(count, pages))).toEqual([{ n: 1 }]);
  });
});
