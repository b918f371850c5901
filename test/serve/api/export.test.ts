import { get, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ConnectionLimits } from '../../../src/serve/api/connections.js';
import { buildServer } from '../../../src/serve/api/http.js';
import { errorLog } from '../../../src/serve/api/request-log.js';
import type { Store } from '../../../src/serve/api/store.js';
import type { CoverageEntry } from '../../../src/source/contract/coverage.js';
import { entryOf } from '../../given/service.js';
import { storeOf } from '../scripted-store.js';

const BATCH = Array.from({ length: 1000 }, (_, number) => entryOf({ url: `https://w.example/${number}` }));
const TURNS = 200;
/** Far more than sockets of a machine keep for a reader that does not read: 300 MB. */
const MANY_BATCHES = 1000;

interface Streamed {
  url: string;
  /** Batches that were asked for. */
  made(): number;
  /** Once no more are. */
  left: Promise<void>;
  errors: unknown[];
}

async function streaming(
  batches: () => AsyncGenerator<CoverageEntry[]>,
  connections: Partial<ConnectionLimits> = {},
): Promise<Streamed> {
  let made = 0;
  let leave: () => void = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  async function* counted(): AsyncGenerator<CoverageEntry[]> {
    try {
      for await (const batch of batches()) {
        made++;
        yield batch;
      }
    } finally {
      leave();
    }
  }
  const store: Store = {
    ...storeOf(new Map([['w', []]])),
    hasHistory: true,
    streamListing: async () => ({ count: 1, batches: counted() }),
  };
  const errors: unknown[] = [];
  const onError = errorLog({ error: (line: object) => void errors.push(line) }, /zo_\w+/g);
  const app = buildServer(store, { connections, onError });
  onTestFinished(() => app.close());
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/urls/w?format=ndjson`;
  return { url, made: () => made, left, errors };
}

const HEADERS = { authorization: 'Bearer k' };

async function* endless(): AsyncGenerator<CoverageEntry[]> {
  for (;;) {
    yield BATCH;
    await nextTurn();
  }
}

describe('a listing that is streamed', () => {
  it('is read as far as its client takes it, and no further once the client is gone', async () => {
    const { url, made, left, errors } = await streaming(endless);
    const answer = await new Promise<IncomingMessage>((resolve) => get(url, { headers: HEADERS }, resolve));
    await new Promise((resolve) => answer.once('readable', resolve));
    for (let turn = 0; turn < TURNS + MANY_BATCHES; turn++) await nextTurn();
    expect(made()).toBeLessThan(MANY_BATCHES);
    answer.destroy();
    await left;
    const after = made();
    for (let turn = 0; turn < TURNS; turn++) await nextTurn();
    expect([made(), errors]).toEqual([after, []]);
  });

  it.each(['identity', 'gzip'])(
    'breaks off where it fails, so that nobody takes half for all (%s)',
    async (encoding) => {
      const broken = new Error('a file is damaged');
      const { url, errors } = await streaming(async function* () {
        for (let batch = 0; batch < 50; batch++) yield BATCH;
        throw broken;
      });
      const answer = await fetch(url, { headers: { ...HEADERS, 'accept-encoding': encoding } });
      expect(answer.status).toBe(200);
      await expect(answer.text()).rejects.toThrow();
      expect(errors).toEqual([{ err: broken, method: 'GET', path: '/v1/urls/w?format=ndjson' }]);
    },
  );

  it('that fails before its first byte is a 500 as any other', async () => {
    const broken = new Error('a file is damaged');
    // biome-ignore lint/correctness/useYield: it fails before it could
    const { url, errors } = await streaming(async function* () {
      throw broken;
    });
    const answer = await fetch(url, { headers: { ...HEADERS, 'accept-encoding': 'gzip' } });
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: 'internal_error' }]);
    expect(errors).toEqual([{ err: broken, method: 'GET', path: '/v1/urls/w?format=ndjson' }]);
  });

  it('is not begun for HEAD', async () => {
    const { url, made } = await streaming(endless);
    expect((await fetch(url, { method: 'HEAD', headers: HEADERS })).status).toBe(200);
    expect(made()).toBe(0);
  });
});
