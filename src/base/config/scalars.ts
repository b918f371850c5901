import { z } from 'zod';
import { duration as spelled } from '../observe/format.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.js';
import { urlOf } from '../url.js';
import { whyNotCron } from './cron.js';
import { nearest } from './suggest.js';

/** The longest duration that the configuration accepts: ten years. */
const MAX_DURATION_MS = 3650 * DAY_MS;
const DURATION_MS: Record<string, number> = { ms: 1, s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
const DURATION = /^(\d{1,12}(?:\.\d{1,6})?) ?(ms|s|m|h|d)$/;

const SIZE_BYTES: Record<string, number> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};
const SIZE = /^(\d{1,12}(?:\.\d{1,6})?) ?([kKmMgGtT][iI]?[bB]|[bB])$/;

/** What an HTTP header can contain without quoting: visible ASCII. */
const TOKEN = /^[\x21-\x7e]+$/;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

type Bad = ReturnType<typeof says>;

/** A schema's message for a bad value: what is wrong and, after a line break, what to do. `load.ts` splits it. */
export function says(problem: string, remedy: string): { error: (issue: { input?: unknown }) => string } {
  const wrong = (input: unknown) => (input === undefined ? 'is missing' : input === null ? 'has no value' : problem);
  return { error: ({ input }) => `${wrong(input)}\n${remedy}` };
}

/** Keys and their values; an unknown key is an error, with a line of what to do about each. */
export function mapping<S extends z.ZodRawShape>(shape: S) {
  const known = Object.keys(shape);
  const other = says('is not a mapping', 'Write its keys below it, indented by two spaces.');
  const remedyOf = (key: string) => {
    const near = nearest(key, known);
    return near ? `Did you mean \`${near}\`?` : `Remove it; known keys here: ${known.join(', ')}.`;
  };
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? ['is not a known key', ...issue.keys.map(remedyOf)].join('\n')
        : other.error(issue),
  });
}

/** Text such as `500ms`, `30s`, `10m`, `6h`, `30d` → milliseconds, within [`min`, `max`] milliseconds. */
export function duration(min = 0, max = MAX_DURATION_MS) {
  const bad = says('is not a duration', 'Write a number and a unit: 500ms, 30s, 10m, 6h or 30d.');
  return scaled(DURATION, DURATION_MS, bad)
    .refine((ms) => ms >= min, says('is too short', `Write at least ${spelled(min)}.`))
    .refine((ms) => ms <= max, says('is too long', `Write at most ${spelled(max)}.`));
}

/** Text such as `256MB`, `1GB`, `1GiB` → bytes, at least `min`. As in DuckDB, GB is 10^9 and GiB 2^30. */
export function size(min = 0) {
  const bad = says('is not a size', 'Write a number and a unit: 256MB, 1GB (10^9 bytes) or 1GiB (2^30 bytes).');
  return scaled(SIZE, SIZE_BYTES, bad).refine(
    (bytes) => bytes >= min,
    says('is too small', `Write at least ${min / 1e6}MB.`),
  );
}

/** A number and a unit, in the smallest unit. */
function scaled(form: RegExp, units: Record<string, number>, bad: Bad) {
  return z
    .string(bad)
    .regex(form, bad)
    .transform((text) => {
      const [, amount = '', unit = ''] = form.exec(text) ?? [];
      return Math.round(Number(amount) * (units[unit.toLowerCase()] ?? Number.NaN));
    });
}

/** A whole number within [`min`, `max`]. */
export function whole(min: number, max: number) {
  const bad = says(
    `is not a whole number from ${min} to ${max}`,
    `Write a number from ${min} to ${max}, without quotes.`,
  );
  return z.number(bad).int(bad).min(min, bad).max(max, bad);
}

/** A number, or the word `unlimited` → Infinity. `amount` builds the number's schema with the error it is given. */
export function orUnlimited<T extends z.ZodType<number>>(amount: (bad: Bad) => T, form: string) {
  const bad = says(`is not ${form}`, `Write ${form}.`);
  return z
    .union([z.literal('unlimited'), amount(bad)], bad)
    .transform((value) => (value === 'unlimited' ? Number.POSITIVE_INFINITY : value));
}

/** Text that is not empty and contains no control characters. */
export function text(what: string) {
  const bad = says(`is not ${what}`, `Write ${what}, in quotes if it is made of digits.`);
  return z.string(bad).refine((value) => value.trim() !== '' && !/\p{Cc}/u.test(value) && value.isWellFormed(), bad);
}

/** A path. `~` is the shell's, and would become a folder of that name. */
export function path() {
  const tilde = says('starts with ~, which is not expanded', 'Write the whole path.');
  return text('a path').refine((value) => !/^~(\/|$)/.test(value), tilde);
}

/** A bearer token: visible ASCII, because it goes into a header as it is. */
export function token() {
  const remedy = `Write the token, best as \${NAME} to read it from the environment; quote it if it is made of digits.`;
  return z
    .string(says('is not text', remedy))
    .min(1, says('is empty', remedy))
    .regex(TOKEN, says('holds white space, control characters or characters outside ASCII', remedy));
}

/** A token, or `{ file: path }` of a file that holds it: the loader reads that. */
export function tokenOrFile() {
  const written = token();
  const error = ({ input }: { input?: unknown }) => written.safeParse(input).error?.issues[0]?.message;
  return z
    .union([written, mapping({ file: path() })], { error })
    .transform((given) => (typeof given === 'string' ? given : ''));
}

/** An IANA time zone such as `Europe/Berlin` or `UTC`. */
export function timeZone() {
  const bad = says('is not a time zone', 'Write a name of the IANA database: UTC, Europe/Berlin, America/New_York.');
  return z.string(bad).refine(isTimeZone, bad);
}

function isTimeZone(name: string): boolean {
  // The default is not looked up, because any look-up loads all time zones, which would delay small commands.
  if (name === 'UTC') return true;
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The service's base address, without trailing slashes. https, except on loopback; may carry a path prefix. */
export function baseUrl(remedy = 'Write it as https://api.example.com, with a path prefix if there is one.') {
  return z
    .string(says('is not an address', remedy))
    .superRefine((value, context) => {
      const problem = addressProblem(value);
      if (problem)
        context.addIssue({ code: 'custom', message: problem.includes('\n') ? problem : `${problem}\n${remedy}` });
    })
    .transform((value) => urlOf(value)?.href.replace(/\/+$/, '') ?? value);
}

function addressProblem(value: string): string | null {
  const url = urlOf(value);
  if (url === null || /[\s\p{Cc}\\]/u.test(value)) return 'is not an address';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is not an https address';
  if (!/^https?:\/\/[^/]/i.test(value)) return 'is not an address';
  if (url.username || url.password || /^[^/]*\/\/[^/?#]*@/.test(value)) {
    return 'holds a user name or password\nRemove it; tokens have keys of their own.';
  }
  if (value.includes('?')) return 'holds a query\nRemove everything from the question mark on.';
  if (value.includes('#')) return 'holds a fragment\nRemove everything from the # on.';
  if (/\/v1\/*$/.test(url.pathname)) return 'ends in /v1\nLeave /v1 out: it is added to every address.';
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'is not encrypted: http would send the token unencrypted\nWrite https://; http is for localhost only.';
  }
  return null;
}

/** The address of a webhook or the like, with everything in it: https, except on loopback. */
export function webhookUrl() {
  const remedy = 'Write it as https://hooks.example.com/…; http is for localhost only.';
  return z.string(says('is not an address', remedy)).refine(isSecure, says('is not an https address', remedy));
}

/** A mail server: `smtps://` for TLS from the start, `smtp://` for STARTTLS, which is required except on loopback. */
export function smtpUrl() {
  const remedy =
    'Write it as smtps://mail.example.com, or smtp://mail.example.com:587 with STARTTLS; user and password have keys of their own.';
  const bad = says('is not the address of a mail server', remedy);
  return z.string(bad).refine((value) => /^smtps?:\/\/[^/@?#\s]+\/?$/.test(value) && urlOf(value) !== null, bad);
}

function isSecure(value: string): boolean {
  const { protocol, hostname = '' } = urlOf(value) ?? {};
  if (/[\s\p{Cc}\\]/u.test(value)) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** A job's time: a cron expression, or false for a job that is switched off. */
export function cron() {
  const remedy =
    'Write five fields in quotes, such as "0 2 * * *" for 02:00 every day, or false to switch the job off.';
  return z.union(
    [
      z.literal(false),
      z.string().superRefine((value, context) => {
        const why = whyNotCron(value);
        if (why !== null) context.addIssue({ code: 'custom', message: `is not a cron expression: ${why}\n${remedy}` });
      }),
    ],
    says('is not a cron expression', remedy),
  );
}

export const lines = says('is not a list', 'Write each entry on a line of its own that begins with "- ".');

/** Texts, each as `isValid` wants it. */
export function listOf(isValid: (value: string) => boolean, bad: Bad) {
  return z.array(z.string(bad).refine(isValid, bad), lines);
}
