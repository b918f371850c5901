import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { DAY_MS } from '../../../src/base/time.js';
import type { Purpose } from '../../../src/source/client.js';
import { GoogleClient } from '../../../src/source/search-console/google-client.js';
import { temporaryFolder } from '../../given/folder.js';
import { listenOnLoopback } from '../../given/loopback.js';
import { Clock } from '../../given/warehouse.js';

const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const EMAIL = 'reader@project.iam.gserviceaccount.com';
export const PROPERTY = 'sc-domain:example.com';

export interface Asked {
  /** `POST /v1/…` */
  line: string;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
  /** From 1: how many calls or sign-ins this server has got. */
  number: number;
}
type Answered = { status?: number; body?: object | string; headers?: Record<string, string> };
type Answer = (asked: Asked) => Answered | Promise<Answered>;

/** An error as Google writes it. */
export function refusal(code: number, status: string, message: string, reason?: string): Answered {
  const reasons = reason ? { errors: [{ reason }], details: [{ reason }] } : {};
  return { status: code, body: { error: { code, message, status, ...reasons } } };
}

export const spent = () => refusal(429, 'RESOURCE_EXHAUSTED', `Quota exceeded for ${PROPERTY}.`);

const freshToken: Answer = ({ number }) => ({
  body: { access_token: `ya29.token-${number}-of-this-test`, expires_in: 3599 },
});

/** Google on loopback, with a client of it that has a clock of its own. */
export async function google(answer: Answer, { signIn = freshToken, file = {} }: GivenGoogle = {}) {
  const calls: Asked[] = [];
  const signIns: Asked[] = [];
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const [all, answerOf] = request.url === '/token' ? [signIns, signIn] : [calls, answer];
    const line = `${request.method} ${request.url}`;
    const asked = { line, headers: request.headers, body: await text(request), number: all.length + 1 };
    all.push(asked);
    const { status = 200, body: said = {}, headers = {} } = await answerOf(asked);
    response.sendDate = false;
    response.writeHead(status, headers).end(typeof said === 'string' ? said : JSON.stringify(said));
  };
  const server = createServer((request, response) => void reply(request, response));
  const { url: endpoint, close } = await listenOnLoopback(server);
  const credentials = credentialsFile({ ...serviceAccount(), token_uri: `${endpoint}/token`, ...file });
  const clock = new Clock();
  const settings = {
    credentials,
    accounts: {},
    requests_per_minute: 6000,
    concurrency: 4,
    ...SEARCH_DEFAULTS,
    forget_after: 90 * DAY_MS,
    endpoint,
  };
  const effects = { ...clock.effects, random: () => 0 };
  const client = new GoogleClient({ google: settings, timeout: 2000, maxAttempts: 3, effects });
  onTestFinished(async () => {
    await client.close();
    await close();
  });
  const purpose: Purpose = { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } };
  return { client, calls, signIns, clock, purpose, credentials, call: { property: PROPERTY, purpose } };
}

/** How the days of search analytics are fetched by default. */
export const SEARCH_DEFAULTS = { history: 480 * DAY_MS, history_days_per_night: 100, fresh: true };

export interface GivenGoogle {
  signIn?: Answer;
  /** Fields of the credentials file. */
  file?: object;
}

export function serviceAccount() {
  const private_key = KEYS.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { type: 'service_account', client_email: EMAIL, private_key, private_key_id: 'key-1' };
}

export const USER = {
  type: 'authorized_user',
  client_id: 'id.apps.googleusercontent.com',
  client_secret: 'GOCSPX-secret-of-the-client',
  refresh_token: '1//refresh+token/of-a-user',
  quota_project_id: 'project-of-the-file',
};

export function credentialsFile(content: object | string): string {
  const path = join(temporaryFolder(), 'credentials.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
