import { z } from 'zod';
import { globs } from './globs.js';
import { mapping, says, smtpUrl, text, token, webhookUrl } from './scalars.js';

const TYPES = 'webhook, slack, teams, email, command or ping';
const MAX_CHANNELS = 100;

const name = text('a name').optional().describe('Name in logs; by default its type and place in the list.');
const url = webhookUrl().describe('Address: https, except on loopback.');
const address = text('an address').refine(
  (value) => /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(value),
  says('is not an e-mail address', 'Write it as you@example.com.'),
);

const channel = z.discriminatedUnion(
  'type',
  [
    mapping({
      type: z.literal('webhook'),
      name,
      url,
      secret: token().optional().describe('Signs the body: `X-Indexhouse-Signature: sha256=<HMAC>`.'),
    }),
    mapping({ type: z.literal(['slack', 'teams']), name, url }),
    mapping({ type: z.literal('ping'), name, url }),
    mapping({
      type: z.literal('email'),
      name,
      smtp: smtpUrl().describe('Mail server: smtps://host, or smtp://host:587 with STARTTLS.'),
      user: text('a name').optional().describe('User at the mail server.'),
      password: text('a password').optional().describe('Password at the mail server.'),
      from: address.describe('Address of the sender.'),
      to: z
        .array(address, says('is not a list', 'Write [you@example.com].'))
        .min(1, says('is an empty list', 'Write [you@example.com].'))
        .describe('Addresses that get the message.'),
    }),
    mapping({
      type: z.literal('command'),
      name,
      run: z
        .array(text('a word'), says('is not a list', 'Write [/path/to/program, argument].'))
        .min(1, says('is an empty list', 'Write [/path/to/program, argument].'))
        .describe('Program and arguments; no shell reads them.'),
    }),
  ],
  says('is not the type of a channel', `Write type: ${TYPES}.`),
);

/** A place that messages are sent to. */
export type Channel = z.output<typeof channel>;

/** The kinds of notices, worst first. */
export const NOTICE_KINDS = [
  'failed',
  'unreadable',
  'outage',
  'overdue',
  'stale',
  'reports',
  'damaged',
  'clock',
  'sign_in',
  'lagging',
  'indexed_drop',
  'directory_drop',
  'watched',
  'robots_blocked',
  'canonical_flips',
  'partial',
  'rejects',
  'quiet',
  'drift',
  'over',
] as const;

/** The drop above which a notice is sent. */
export type Drop = { pages: number } | { share: number };

const SHARE = /^(\d{1,2}(?:\.\d{1,3})?)%$/;

/** A number of pages, or a share such as `5%`. */
function drop() {
  const bad = says('is not a drop', 'Write a share such as 5%, or a number of pages.');
  return z
    .union([z.number(bad).int(bad).min(0, bad), z.string(bad).regex(SHARE, bad)], bad)
    .transform(
      (value): Drop => (typeof value === 'number' ? { pages: value } : { share: Number.parseFloat(value) / 100 }),
    );
}

/** `notify`: which notices are sent, and where to. */
export const notify = mapping({
  channels: z
    .array(channel, says('is not a list', 'Write one `- type: …` for each channel.'))
    .max(MAX_CHANNELS, says(`holds more than ${MAX_CHANNELS} channels`, 'Remove some.'))
    .refine(
      (all) => new Set(all.flatMap((one) => one.name ?? [])).size === all.flatMap((one) => one.name ?? []).length,
      says('has a name twice', 'Give each channel a name of its own.'),
    )
    .prefault([])
    .describe(`Where messages go: ${TYPES}.`),
  except: z
    .array(
      z.enum(NOTICE_KINDS, says('is not a kind of notice', `Write one of: ${NOTICE_KINDS.join(', ')}.`)),
      says('is not a list', 'Write ["drift"].'),
    )
    .prefault([])
    .describe('Kinds of notices that are not sent.'),
  indexed_drop: drop()
    .prefault('5%')
    .describe('Notify if a website lost more indexed pages than this share or number since its last complete listing.'),
  watch: globs()
    .prefault([])
    .describe('URL patterns, * for any characters, or names of `views`: notify if such pages leave the index.'),
});
