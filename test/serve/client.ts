import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import { coverageEntrySchema, coverageWindowSchema } from '../../src/source/contract/coverage.js';

/** A window of a listing, all of whose entries are valid. */
export const entryWindow = coverageWindowSchema.extend({ urls: z.array(coverageEntrySchema) });

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
