import { spawn } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { Channel } from '../../base/config/notify.js';
import { isLoopback } from '../../base/config/scalars.js';
import { dispatcherFor } from '../../base/http/exchange.js';
import { SECOND_MS } from '../../base/time.js';
import { jsonOf, type Message, mailOf, slackOf, teamsOf } from './message.js';

/** Loaded by file, as in `base/http/exchange.ts`, because every sync with a channel waits for it. */
const request: Dispatcher['request'] = createRequire(import.meta.url)('undici/lib/api/api-request.js');
/** For each attempt, on every channel. */
const LIMIT_MS = 10 * SECOND_MS;

/** What a ping reports of a run to a dead man's switch, such as healthchecks.io. */
export type RunEvent = 'start' | 'success' | 'fail';

export type Ping = Extract<Channel, { type: 'ping' }>;
export type MessageChannel = Exclude<Channel, Ping>;

/** A channel's name in logs, without secrets. */
export function labelOf({ name, type }: Channel): string {
  return name ?? type;
}

/** A channel's key in the journal; a channel with another address has another key. */
export function keyOf(channel: Channel): string {
  if (channel.name !== undefined) return channel.name;
  const { name, ...rest } = channel;
  // A new password or secret does not make a new channel.
  const target = 'url' in rest ? rest.url : 'smtp' in rest ? [rest.smtp, rest.from, rest.to] : rest.run;
  return `${channel.type}-${createHash('sha256').update(JSON.stringify(target)).digest('hex').slice(0, 12)}`;
}

/** Sends one message. @throws Error if the channel does not accept it within the time limit */
export async function send(channel: MessageChannel, message: Message, limitMs = LIMIT_MS): Promise<void> {
  if (channel.type === 'email') return mail(channel, message, limitMs);
  if (channel.type === 'command') return runCommand(channel.run, jsonOf(message), limitMs);
  const body = { webhook: jsonOf, slack: slackOf, teams: teamsOf }[channel.type](message);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (channel.type === 'webhook' && channel.secret) {
    const signature = createHmac('sha256', channel.secret).update(body).digest('hex');
    headers['x-indexhouse-signature'] = `sha256=${signature}`;
  }
  await ask(channel.url, { method: 'POST', body, headers }, limitMs);
}

/** Pings a dead man's switch: the address itself on success, `/start` and `/fail` below it. */
export async function ping({ url }: Ping, event: RunEvent, limitMs = LIMIT_MS): Promise<void> {
  const address = new URL(url);
  if (event !== 'success') address.pathname = `${address.pathname.replace(/\/$/, '')}/${event}`;
  await ask(address.href, { method: 'GET' }, limitMs);
}

async function ask(
  url: string,
  options: { method: 'GET' | 'POST'; body?: string; headers?: Record<string, string> },
  limitMs: number,
): Promise<void> {
  const { origin, pathname, search } = new URL(url);
  const dispatcher = dispatcherFor(origin, { connections: 1 });
  const target = { origin, path: pathname + search, signal: AbortSignal.timeout(limitMs) };
  try {
    const { statusCode, body } = await request.call(dispatcher, { ...options, ...target });
    await body.dump({ limit: 100_000 });
    // Redirects are not followed: they would take the message elsewhere.
    if (statusCode < 200 || statusCode > 299) throw new Error(`it answered ${statusCode}`);
  } finally {
    await dispatcher.destroy();
  }
}

async function mail(channel: Extract<Channel, { type: 'email' }>, message: Message, limitMs: number): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const { protocol, hostname, port } = new URL(channel.smtp);
  const secure = protocol === 'smtps:';
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isLoopback(hostname),
    ...(channel.user === undefined ? {} : { auth: { user: channel.user, pass: channel.password ?? '' } }),
    connectionTimeout: limitMs,
    greetingTimeout: limitMs,
    socketTimeout: limitMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { from, to } = channel;
  const sent = transport.sendMail({ from, to, ...mailOf(message), headers: { 'Auto-Submitted': 'auto-generated' } });
  // For the whole mail, because nodemailer's limits are for each step.
  const late = delay(limitMs, undefined, { ref: false }).then(() => {
    throw new Error(`it took longer than ${limitMs / SECOND_MS} seconds`);
  });
  try {
    await Promise.race([sent, late]);
  } finally {
    transport.close();
  }
}

/** Runs a program without a shell; the message goes to its stdin. */
function runCommand([program = '', ...args]: readonly string[], input: string, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: limitMs,
      killSignal: 'SIGKILL',
    });
    child.on('error', reject);
    child.on('close', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(signal ? `it was stopped by ${signal}` : `it exited with ${code}`)),
    );
    // A program that reads nothing may be gone already.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
