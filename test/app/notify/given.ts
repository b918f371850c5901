import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { z } from 'zod';
import { sendNotices } from '../../../src/app/notify/notify.js';
import { createLogger } from '../../../src/base/observe/log.js';
import type { Receipt } from '../../../src/sync/receipt.js';
import { atEnd } from '../../given/folder.js';
import { listenOnLoopback } from '../../given/loopback.js';
import type { Nights } from '../../given/nights.js';
import { configFor } from '../../given/warehouse.js';

interface Got {
  path: string;
  body: string;
  headers: IncomingMessage['headers'];
}

/** Takes what channels send, on loopback, until the test ends. While `status` is no 2xx, it is down. */
export async function startReceiver() {
  const got: Got[] = [];
  const receiver = { url: '', got, status: 200, take: () => got.splice(0) };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      got.push({ path: request.url ?? '', body, headers: request.headers });
      response.writeHead(receiver.status).end();
    });
  });
  const { url, close } = await listenOnLoopback(server);
  receiver.url = url;
  atEnd(close);
  return receiver;
}

/**
 * A mail server that takes everything, on loopback, until the test ends; `logins` are those over TLS.
 *
 * @param options with a certificate it offers STARTTLS, or TLS from the first byte on if it is `secure`
 */
export async function startMailServer(options: Pick<SMTPServerOptions, 'key' | 'cert' | 'secure'> = {}) {
  const mails: string[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    ...options,
    authOptional: true,
    onAuth: ({ username = '', password = '' }, { secure }, done) => {
      if (secure) logins.push(`${username}:${password}`);
      done(null, { user: username });
    },
    onData: (stream, _session, done) => {
      void text(stream).then((mail) => {
        mails.push(mail);
        done();
      });
    },
    // Without a certificate of the test's it offers no TLS at all.
    disabledCommands: options.key ? [] : ['STARTTLS', 'AUTH'],
  });
  // A client that trusts nobody breaks off.
  server.on('error', () => {});
  const { url } = await listenOnLoopback(server.server);
  atEnd(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { url: url.replace('http', options.secure ? 'smtps' : 'smtp'), mails, logins };
}

/** A configuration with these channels and rules, and a log that the test reads. */
export function withChannels(warehouse: string, channels: object[], rules: object = {}, others: object = {}) {
  const lines: Record<string, unknown>[] = [];
  // Entries and reports of tests lack fields, which is drift of the first night.
  const sections = { ...others, notify: { channels, except: ['drift'], ...rules } };
  const config = configFor({ baseUrl: 'http://127.0.0.1:9', warehouse, sections });
  const logger = createLogger({ destination: { write: (line) => lines.push(JSON.parse(line)) }, pretty: false });
  const warnings = () => lines.filter(({ level }) => level === 'warn').map(({ msg }) => String(msg));
  return { config, logger, warnings };
}

export const NOTHING: Receipt = { run_id: null, websites: [], followers: [] };
export const INDEXED = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed' };
export const FALLEN = { index_summary: 'Not Indexed', index_coverage_state: 'Crawled - currently not indexed' };

/** So many pages of one directory. */
export function pages(directory: string, count: number, entry: object): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${directory}/${at}`, entry]));
}

/** The notices of one message, by their kinds. */
export function noticesIn(body: string | undefined) {
  const { notices } = JSON.parse(body ?? '{"notices":[]}');
  return new Map<string, Record<string, unknown>>(notices.map((notice: { kind: string }) => [notice.kind, notice]));
}

/** The kinds of what these messages call right again, sorted. */
export function overIn(messages: readonly { body: string }[]): string[] {
  const schema = z.object({ notices: z.array(z.object({ id: z.string() })) });
  const all = messages.flatMap(({ body }) => schema.parse(JSON.parse(body)).notices);
  return all.flatMap(({ id }) => /^over:(\w+):/.exec(id)?.[1] ?? []).sort();
}

/** One webhook that gets what `sendNotices` sends about these nights; how many days later than the last one. */
export async function watching(nights: Nights, rules: object = {}, sections: object = {}) {
  const receiver = await startReceiver();
  const { config, logger } = withChannels(nights.warehouse, [{ type: 'webhook', url: receiver.url }], rules, sections);
  const send = (daysLater = 0) => sendNotices({ config, logger, now: () => nights.clock.now + daysLater * 86_400_000 });
  const notices = (): object[] => receiver.take().flatMap(({ body }) => JSON.parse(body).notices);
  return { config, logger, receiver, send, notices };
}
