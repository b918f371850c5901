import { z } from 'zod';
import { globs } from './globs.js';
import { duration, mapping, says, smtpUrl, text, token, webhookUrl, whole, yesOrNo } from './scalars.js';

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
    mapping({ type: z.literal('slack'), name, url }),
    mapping({ type: z.literal('teams'), name, url }),
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

/** The keys of all kinds of channels. */
export const CHANNEL_KEYS = [...new Set(channel.options.flatMap(({ shape }) => Object.keys(shape)))];

/** The drop above which a notice is sent; false: never. */
export type Drop = false | { pages: number } | { share: number };

const SHARE = /^(\d{1,2}(?:\.\d{1,3})?)%$/;

/** A number of pages, or a share such as `5%`, or false. */
function drop() {
  const bad = says('is not a drop', 'Write a share such as 5%, a number of pages, or false.');
  return z
    .union([z.literal(false), z.number(bad).int(bad).min(0, bad), z.string(bad).regex(SHARE, bad)], bad)
    .transform((value): Drop => {
      if (value === false) return false;
      return typeof value === 'number' ? { pages: value } : { share: Number.parseFloat(value) / 100 };
    });
}

function orFalse(least: number) {
  return z.union(
    [z.literal(false), whole(least, 1_000_000_000)],
    says('is neither a whole number nor false', 'Write one.'),
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
  failed: yesOrNo().prefault(true).describe('Notify about a run without a snapshot.'),
  stale: yesOrNo()
    .prefault(true)
    .describe('Notify about a website whose newest snapshot is older than `status.max_age`, and about a missed night.'),
  partial_nights: orFalse(1)
    .prefault(1)
    .describe('Notify about listings that were partial for this many nights; or false.'),
  reports: yesOrNo().prefault(true).describe('Notify about reports that failed or were interrupted.'),
  lagging: yesOrNo().prefault(true).describe('Notify about a copy of the warehouse that lags.'),
  outage: z
    .union([z.literal(false), duration()], says('is neither a duration nor false', 'Write a duration such as 1h.'))
    .prefault('1h')
    .describe('Notify about an outage that a run has waited for so long, and when it is over; or false.'),
  drift: yesOrNo()
    .prefault(true)
    .describe('Notify about what the service sends that the contract does not foresee, when it is new.'),
  rejects: yesOrNo().prefault(true).describe('Notify about more rejected records than `quality.max_reject_ratio`.'),
  quiet: yesOrNo()
    .prefault(true)
    .describe('Notify about a sitemap or search analytics half of whose pages nothing names any more.'),
  indexed_drop: drop()
    .prefault('5%')
    .describe('Notify if a website lost more indexed pages than this share or number since its last complete listing.'),
  directory_drop: drop().prefault('20%').describe('The same for a directory, if the website as a whole lost fewer.'),
  watch: globs().prefault([]).describe('URL patterns, * for any characters: notify if such pages leave the index.'),
  watch_views: z
    .array(text('the name of a view'), says('is not a list', 'Write ["Name of a view"].'))
    .prefault([])
    .describe('Views of `views`, by name: the same for their pages.'),
  robots_blocked: orFalse(0).prefault(10).describe('Notify if robots.txt newly blocks more pages than this; or false.'),
  canonical_flips: orFalse(0)
    .prefault(50)
    .describe('Notify if more canonicals than this changed to another page in one snapshot; or false.'),
});
