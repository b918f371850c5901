import { isIP } from 'node:net';
import { z } from 'zod';
import { says } from './scalars.js';

const list = says('is not a list', 'Write each entry on a line of its own that begins with "- ".');
const HOST_NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

/** Addresses such as `127.0.0.1`, or ranges of them such as `10.0.0.0/8`. */
export function addressRanges() {
  const bad = says('is not an address', 'Write an address, or a range of them: 127.0.0.1, 10.0.0.0/8, ::1.');
  return z.array(z.string(bad).refine(isRange, bad), list);
}

function isRange(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** Names of hosts, without scheme and port. */
export function hostNames() {
  const bad = says('is not the name of a host', 'Write it without scheme and port: indexhouse.example.com.');
  return z.array(
    z.string(bad).refine((value) => HOST_NAME.test(value), bad),
    list,
  );
}

/** Origins of web pages, as browsers name them; or `*`. */
export function origins() {
  const bad = says('is not an origin', 'Write scheme and host, and nothing behind them: https://app.example.com.');
  return z.array(z.string(bad).refine(isOrigin, bad), list);
}

function isOrigin(value: string): boolean {
  return value === '*' || (/^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value);
}
