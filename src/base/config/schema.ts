import { z } from 'zod';
import { DAY_MS } from '../time.js';
import { globs } from './globs.js';
import { checkAccess, checkAccounts, google, websites } from './google.js';
import { notify } from './notify.js';
import {
  baseUrl,
  cron,
  duration,
  lines,
  listOf,
  mapping,
  orUnlimited,
  path,
  says,
  size,
  text,
  timeZone,
  tokenOrFile,
  whole,
} from './scalars.js';
import { checkWatched, views } from './views.js';

const BUCKET = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/|$)/;
const PREFIX = /^[\w!.*'()=-]+$/;

const badBucket = says(
  'is not the address of a bucket',
  'Write it as s3://bucket or s3://bucket/prefix, in plain letters.',
);

/** `s3://name/prefix`, without a trailing slash. */
export function bucketUrl() {
  return z
    .string(badBucket)
    .transform((url) => url.replace(/\/$/, ''))
    .refine((url) => {
      const [, , , ...prefix] = url.split('/');
      return BUCKET.test(url) && prefix.every((name) => PREFIX.test(name) && !/^\.+$/.test(name));
    }, badBucket);
}

const isBucket = says(
  'is a bucket, not a folder',
  'Restore it into a folder first: `indexhouse restore --from s3://name/prefix --warehouse ./warehouse`.',
);

/** The folder of a warehouse. */
export function warehousePath() {
  return path().refine((place) => !place.startsWith('s3://'), isBucket);
}

const MIN_MEMORY_BYTES = 64e6;

const notShare = says('is not a number from 0 to 1', 'Write a share such as 0.01 for one in a hundred.');
const notAddress = says('is not an address', 'Write an address, or a range of them: 127.0.0.1, 10.0.0.0/8, ::1.');
const notHost = says('is not the name of a host', 'Write it without scheme and port: indexhouse.example.com.');

/** `api`: durations in milliseconds, rate in requests a minute (Infinity: unlimited). `checkAccess` says who needs it. */
const api = mapping({
  base_url: baseUrl()
    .optional()
    .transform((url = '') => url)
    .describe('Address of the service: https, except on loopback; may carry a path prefix.'),
  token: tokenOrFile()
    .optional()
    .transform((text = '') => text)
    .describe(`Bearer token; \${NAME} reads the environment, and {file: path} a file beside this one.`),
  requests_per_minute: orUnlimited((bad) => z.number(bad).positive(bad), 'a number above 0, or `unlimited`')
    .prefault(60)
    .describe('Requests per minute and token, or "unlimited"; rate headers may lower the pace, never raise it.'),
  concurrency: whole(1, 256).prefault(8).describe('Concurrent requests per token.'),
});

/** `reports.priority`: patterns of page URLs, as `globExpression` reads them. */
const priority = mapping({
  first: globs()
    .prefault([])
    .describe('URL patterns, * for any characters: these reports are fetched before all others.'),
  never: globs().prefault([]).describe('URL patterns of pages whose report is never fetched; wins over `first`.'),
});

/** `reports`: `max_per_run` in reports (Infinity: unlimited), durations in milliseconds. */
const reports = mapping({
  max_per_run: orUnlimited((bad) => z.number(bad).int(bad).min(0, bad), 'a whole number from 0, or `unlimited`')
    .prefault('unlimited')
    .describe('URL reports to fetch in one run, or "unlimited"; 0: listing only.'),
  refresh_after: duration()
    .prefault('30d')
    .describe("Age by which an unchanged page's report is fetched again, spread over the days before; 0d: each run."),
  deadline: duration(1000).prefault('20h').describe('How long a run fetches reports before it commits what it has.'),
  priority: priority.prefault({}).describe('Which reports are fetched first, and which never.'),
  max_failed_ratio: z
    .number(notShare)
    .min(0, notShare)
    .max(1, notShare)
    .prefault(0.01)
    .describe(
      'Share of failed reports above which, if there are at least three, the reports of a run count as failed.',
    ),
});

/** `warehouse`: sizes in bytes. */
const warehouse = mapping({
  path: warehousePath()
    .prefault('./warehouse')
    .describe('Folder of the warehouse; a relative one counts from the folder of this file.'),
  time_zone: timeZone()
    .prefault('UTC')
    .describe("Decides a snapshot's calendar date, and when `schedule` runs; fixed once there is data."),
  memory_limit: size(MIN_MEMORY_BYTES)
    .prefault('1GB')
    .describe("DuckDB's memory for queries. A sync uses a quarter of it, or 256MB if that is more."),
});

const sync = mapping({
  clock: z
    .enum(['machine', 'service'], says('is neither `machine` nor `service`', 'Leave it out.'))
    .prefault('machine')
    .describe('Whose clock dates a run; "service", only for a simulator on loopback, takes the `Date` of its answers.'),
});

/** `status`: `max_age` in milliseconds. */
const status = mapping({
  max_age: z
    .union(
      [z.literal('auto'), duration(1000)],
      says('is neither a duration nor `auto`', 'Write a duration such as 36h, or `auto`.'),
    )
    .prefault('auto')
    .describe('Age of a snapshot above which data is called old; "auto": twice the time between two nightly syncs.'),
});

/** `schedule`: for each job a cron expression or false. */
const schedule = mapping({
  'nightly-sync': cron().prefault('0 2 * * *').describe('When the nightly sync starts; false: never.'),
  maintain: cron().prefault(false).describe('When `maintain` runs; false: never.'),
  verify: cron().prefault(false).describe('When `verify` runs; false: never.'),
  report: cron().prefault(false).describe('When a report is written to `reports` beside the warehouse; false: never.'),
});

/** `service`: where `serve` listens, and for whom. */
const service = mapping({
  host: text('an address')
    .prefault('127.0.0.1')
    .describe('Address that `indexhouse serve` listens on; beyond loopback only with a key.'),
  port: whole(0, 65_535).prefault(8090).describe('Port to listen on; 0 picks a free one.'),
  trust_proxy: z
    .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], notAddress), lines)
    .prefault([])
    .describe('Addresses of proxies whose `X-Forwarded-For`, `-Proto` and `-Host` are trusted.'),
  allowed_hosts: listOf((name) => /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(name), notHost)
    .prefault([])
    .describe('Host names to answer to. By default: on loopback localhost and IP addresses, elsewhere any name.'),
});

/** `indexhouse.yaml`, parsed: times in milliseconds, sizes in bytes, `unlimited` as Infinity. Unknown keys are errors. */
export const configSchema = mapping({
  api: api.prefault({}).describe('The service to fetch from; websites with `source: google` do without.'),
  google: google.prefault({}).describe('Search Console, for websites with `source: google`.'),
  websites,
  reports: reports.prefault({}).describe('Which URL reports are fetched.'),
  warehouse: warehouse.prefault({}).describe('Where snapshots are kept.'),
  bucket: bucketUrl()
    .optional()
    .describe('Address of a bucket that gets a copy of every commit: s3://name/prefix. AWS_… variables hold its keys.'),
  // At least a day, so that `30m` cannot be mistaken for thirty months.
  retention: orUnlimited(
    (bad) => duration().refine((ms) => ms >= DAY_MS, bad),
    'a number of days, such as 400d, or `unlimited`',
  )
    .prefault('unlimited')
    .describe(
      'How long listings and reports are kept daily, such as 400d; `maintain` keeps one a month of older ones.',
    ),
  sync: sync.prefault({}).describe('Whose time it is.'),
  status: status.prefault({}).describe('When `indexhouse status` warns.'),
  views,
  notify: notify.prefault({}).describe('Who is notified when something is wrong.'),
  schedule: schedule.prefault({}).describe('When `indexhouse schedule` runs its jobs, in `warehouse.time_zone`.'),
  pages_from: path()
    .optional()
    .describe(
      'CSV, TSV, Parquet or JSON of your own with a column `url` or `pattern`, whose other columns are joined to pages; reports group by the first. Relative to this file.',
    ),
  service: service.prefault({}).describe('How `indexhouse serve` serves the warehouse.'),
})
  .superRefine(checkAccess, { when: () => true })
  .superRefine(checkAccounts)
  .superRefine(checkWatched);

/** Flags and the environment can override the keys of sections one by one if these are scalars. */
export const SECTION_NAMES = Object.entries(configSchema.shape).flatMap(([name, schema]) =>
  schema instanceof z.ZodPrefault && schema.unwrap() instanceof z.ZodObject ? [name] : [],
);

/**
 * The whole configuration under the names of the YAML file. Times are milliseconds, sizes bytes, `unlimited` Infinity;
 * `warehouse.path` (if it is no bucket's address) and `file` (where it came from) are absolute. `hasSchedule`: whether the
 * file has the section `schedule`.
 */
export type Config = z.output<typeof configSchema> & { file: string; hasSchedule?: boolean };

/** The JSON Schema of `indexhouse.yaml` as users write it (durations and sizes as text), for completion in editors. */
export function configJsonSchema(): z.core.JSONSchema.JSONSchema {
  // Draft 7 is what the YAML language server understands best.
  const generated = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' });
  // Without `websites`, they are all those of `api`.
  const anyOf = [{ required: ['api'] }, { required: ['websites'] }];
  return { ...generated, anyOf, title: 'indexhouse.yaml' };
}
