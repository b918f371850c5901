import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startSearchConsole } from '../../../src/app/demo/search-console/search-console.js';
import { type CredentialsKind, SignIn } from '../../../src/app/demo/search-console/sign-in.js';
import { configSchema } from '../../../src/base/config/schema.js';
import type { Purpose } from '../../../src/source/client.js';
import { GoogleClient } from '../../../src/source/search-console/google-client.js';
import { temporaryFolder } from '../../given/folder.js';
import { type ScriptedAnswer, type ScriptedCall, scripted } from '../../given/scripted.js';
import { Clock } from '../../given/warehouse.js';

export const PROPERTY = 'sc-domain:example.com';

/** Most tests need none. */
export const NO_PAGES = [{ id: 'w', pages: 0 }];

export interface Asked extends ScriptedCall {
  /** From 1: how many calls or sign-ins there were. */
  number: number;
}
export type Answer = (asked: Asked) => ScriptedAnswer | undefined | Promise<ScriptedAnswer | undefined>;

/** An error as Google writes it. */
export function refusal(code: number, status: string, message: string, reason?: string): ScriptedAnswer {
  const reasons = reason ? { errors: [{ reason }], details: [{ reason }] } : {};
  return { status: code, body: { error: { code, message, status, ...reasons } } };
}

export const spent = () => refusal(429, 'RESOURCE_EXHAUSTED', `Quota exceeded for ${PROPERTY}.`);

/** The `google` section of a configuration with its defaults. */
export function googleConfig(section: object = {}) {
  return configSchema.parse({ google: section, websites: [{ id: PROPERTY, source: 'google' }] }).google;
}

/** The simulated Google, and a client of it that has a clock of its own. What a test answers comes first. */
export async function google(
  answer: Answer = () => undefined,
  { signIn = () => undefined, kind = 'service_account' }: { signIn?: Answer; kind?: CredentialsKind } = {},
) {
  const [calls, signIns]: [Asked[], Asked[]] = [[], []];
  const notices: string[] = [];
  const clock = new Clock();
  const script = (call: ScriptedCall) => {
    const [all, answerOf] = call.line === 'POST /token' ? [signIns, signIn] : [calls, answer];
    const asked = { ...call, number: all.length + 1 };
    all.push(asked);
    return answerOf(asked);
  };
  const service = await startSearchConsole({ clock: () => clock.now, websites: NO_PAGES, setup: scripted(script) });
  const credentials = credentialsFile({ ...(await credentialsOf(kind)), token_uri: `${service.url}/token` });
  const client = new GoogleClient({
    google: googleConfig({ credentials, endpoint: service.url, requests_per_minute: 6000 }),
    timeout: 2000,
    maxAttempts: 3,
    onNotice: ({ kind }) => void notices.push(kind),
    effects: { ...clock.effects, random: () => 0 },
  });
  onTestFinished(async () => {
    await client.close();
    await service.close();
  });
  const purpose: Purpose = { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } };
  return { client, calls, notices, signIns, clock, purpose, credentials, call: { property: PROPERTY, purpose } };
}

/** The content of a credentials file of every simulated Google, but for its address. */
export async function credentialsOf(kind: CredentialsKind) {
  const file = await new SignIn(Date.now).write(kind, '', temporaryFolder());
  const { token_uri: _, ...content } = JSON.parse(readFileSync(file, 'utf8'));
  return content;
}

export function credentialsFile(content: object | string): string {
  const path = join(temporaryFolder(), 'credentials.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
