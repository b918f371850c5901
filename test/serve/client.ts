import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import { coverageEntrySchema, coverageWindowSchema } from '../../src/source/contract/coverage.js';

/** A window of a listing, all of whose entries are valid. */
export const entryWindow = coverageWindowSchema.extend({ urls: z.array(coverageEntrySchema) });

/** A client that knows a base address and a key, and nothing else. */
export function clientOf(url: string, token: string) {
  const ask = (path: string) => fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  const read = async (path: string) => {
    const answer = await ask(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const window = async (path: string) => entryWindow.parse(await read(path));
  return { ask, read, window, status: async (path: string) => (await ask(path)).status };
}

/** A bare connection to a server, and all that it says until it ends it. */
export function connection(url: string): { write(text: string): void; received: Promise<string> } {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece;
  });
  const received = new Promise<string>((resolve) => {
    for (const end of ['close', 'error']) socket.once(end, () => resolve(text));
  });
  return { write: (piece) => void socket.write(piece, 'latin1'), received };
}
