import { expect, test } from 'vitest';
import type { Reader } from '../../../src/answers/query/reader.js';
import { Remembered } from '../../../src/serve/dashboard/remembered.js';
import type { Marker } from '../../../src/warehouse/log/markers.js';

test('what was asked is not asked again until the next commit', async () => {
  let markers: Marker[] = [];
  let questions = 0;
  const remembered = new Remembered(async (_reader, _website, _asked: object) => ({ answer: ++questions }));
  const ask = (id: string, asked: object) => {
    const context = {
      website: { id, name: id },
      reader: { markers: async () => markers },
      ask: <T>(question: (reader: Reader) => Promise<T>) => question({ markers } as Partial<Reader> as Reader),
    };
    return remembered.ask(context, asked);
  };
  for (const _ of [1, 2]) expect(await ask('shop', { page: 1 })).toEqual({ answer: 1 });
  expect([await ask('shop', { page: 2 }), await ask('other', { page: 1 })]).toEqual([{ answer: 2 }, { answer: 3 }]);
  markers = [];
  expect(await ask('shop', { page: 1 })).toEqual({ answer: 4 });
});
