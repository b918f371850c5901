import { writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeOf } from '../storage/durable.js';
import { packageFolder } from '../storage/sql.js';
import { ConfigError } from './errors.js';

const EXAMPLE_URL = 'https://api.example.com';

export interface StarterOptions {
  /** The service's address, to write instead of the example's. */
  baseUrl?: string | undefined;
}

/**
 * Writes a commented configuration that holds the defaults, and the token as `${INDEXHOUSE_TOKEN}`.
 *
 * @param file absolute path.
 * @throws ConfigError if something is there already (it is left as it is) or the file cannot be written.
 */
export async function writeStarterConfig(file: string, { baseUrl = EXAMPLE_URL }: StarterOptions = {}): Promise<void> {
  try {
    await writeFile(
      file,
      STARTER.replace('SCHEMA', () => schemaFor(file)).replace(EXAMPLE_URL, () => baseUrl),
      { flag: 'wx' },
    );
  } catch (error) {
    const [message, remedy] = unwritable(error);
    throw new ConfigError([{ file, line: null, column: null, path: '', message, remedy }]);
  }
}

/**
 * Where an editor finds the JSON Schema of this installation. A relative path if it is below the file, in a clone or a
 * project's `node_modules`, so that it stays right when both move; else a `file:` URL, as in a global installation.
 *
 * @param file absolute path of the configuration
 */
export function schemaFor(file: string): string {
  const schema = join(packageFolder(), 'docs', 'indexhouse.schema.json');
  const way = relative(dirname(file), schema);
  if (/^\.\.|\s/.test(way) || isAbsolute(way)) return pathToFileURL(schema).href;
  return way.split(sep).join('/');
}

function unwritable(error: unknown): [message: string, remedy: string] {
  const code = codeOf(error);
  if (code === 'EEXIST')
    return ['this file already exists and was not changed', 'Edit it, or choose another with --config.'];
  if (code === 'ENOENT') return ['there is no such folder', 'Create the folder first.'];
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return ['this folder is not writable', 'Choose another with --config, or change its permissions.'];
  }
  return [`the file cannot be written (${code || 'unknown error'})`, 'Check the path and the disk.'];
}

/** The text of a new `indexhouse.yaml`: every key with its default and a comment. */
const STARTER = `# yaml-language-server: $schema=SCHEMA
#
# The configuration of indexhouse. Values that are not marked "yours" are defaults: you may delete
# those lines. \${NAME} reads the environment. Check with: indexhouse doctor

api:
  base_url: https://api.example.com     # yours: the service's address, https; without /v1
  token: \${INDEXHOUSE_TOKEN}            # yours: the bearer token, better kept in the environment than here
  # token_file: /run/secrets/token      # or a file that holds it, as Docker and Kubernetes mount secrets
  requests_per_minute: 60               # for each token; or unlimited. The service's rate headers may lower it
  concurrency: 8                        # concurrent requests, 1 to 256
  timeout: 30s                          # how long one request may take
  page_size: 1000                       # entries per request; the service may return fewer
  max_attempts: 5                       # attempts per request

websites: all                           # every website that the token has access to; or a list:
# websites:
#   - id: 645f2e5cd8cd9b7bd8b55ab1      # the website's id in the service
#     name: example.com                 # its name in reports
#     token: \${OTHER_TOKEN}             # if this website has a token of its own

reports:
  max_per_run: unlimited                # URL reports fetched in one run; 0: the listing only
  refresh_after: 30d                    # fetch an unchanged page's report again by this age; 0d: in each run
  deadline: 20h                         # stop fetching then, and commit what is there
  priority: {}                          # or URL patterns, in which * matches any characters:
  # priority:
  #   first: ["/blog/*"]                # fetched before all others; with a leading /, matches from the path on
  #   never: ["*?print=*"]              # never fetched

warehouse:
  path: ./warehouse                     # relative to the folder of this file
  time_zone: UTC                        # decides a snapshot's date; fixed once the warehouse holds data
  parquet_compression: zstd             # zstd, snappy or gzip
  memory_limit: 1GB                     # DuckDB's memory; a sync uses a quarter of it
  min_free_disk: 1GB                    # below this free space: stop fetching, and commit
  lock_timeout: 30s                     # how long to wait for a reader of indexhouse.duckdb
  # cache_path: /var/cache/indexhouse   # for readers of s3://…: what they fetched; by default below ~/.cache
  cache_size: 10GB                      # and how much of it stays for later questions

# bucket:                                # a copy of every commit, and what another machine starts from
  # url: s3://name/prefix               # yours
  # endpoint: https://s3.example.com    # the server; by default AWS
  # region: us-east-1                   # by default from AWS_REGION
  # access_key_id: \${LAKE_KEY}         # by default from AWS_ACCESS_KEY_ID
  # secret_access_key: \${LAKE_SECRET}  # by default from AWS_SECRET_ACCESS_KEY
  # session_token: \${LAKE_SESSION}     # of temporary credentials; by default from AWS_SESSION_TOKEN
  # journal: false                      # true: also upload unfinished runs, each minute

iceberg:
  enabled: false                        # publish Apache Iceberg tables in the warehouse, for Spark, Trino and others
  history: 30d                          # how far back their readers can travel in time

retention:                              # for: indexhouse maintain; by default everything is kept
  duckdb_keep: unlimited                # or such as 400d: older coverage and url_reports leave indexhouse.duckdb
  parquet_keep_daily: unlimited         # or such as 400d: older Parquet files of both are thinned
  parquet_then: monthly                 # to the last complete snapshot of each month; or weekly

sync:
  resume_within: 6h                     # how old an interrupted run may be to be resumed
  retry_for: 6h                         # how long the daemon waits for an outage to pass
  max_clock_skew: 1h                    # no run starts if this machine's clock is further off the service's

quality:
  max_reject_ratio: 0.01                # above this share of rejected records a listing is partial
  max_failed_ratio: 0.01                # above this share of failed reports (at least three) the reports have failed

status:
  max_age: auto                         # older data is called old; auto: twice the time between nightly syncs

notify:                                 # who is notified when something is wrong; try it: indexhouse notify --test
  channels: []                          # none; or a list:
  # channels:
  #   - type: slack                     # or teams: an incoming webhook
  #     url: \${SLACK_WEBHOOK_URL}
  #   - type: email
  #     smtp: smtps://mail.example.com
  #     user: indexhouse
  #     password: \${SMTP_PASSWORD}
  #     from: indexhouse@example.com
  #     to: [you@example.com]
  #   - type: ping                      # a dead man's switch such as healthchecks.io, told of each run
  #     url: \${PING_URL}
  #   - type: webhook                   # JSON, signed with the secret
  #     url: https://hooks.example.com/indexhouse
  #     secret: \${WEBHOOK_SECRET}
  #   - type: command                   # gets the same JSON on stdin
  #     run: [/usr/local/bin/on-notice]
  failed: true                          # a run got no snapshot
  stale: true                           # the newest snapshot is older than status.max_age
  partial_nights: 1                     # listings were partial for this many nights; or false
  reports: true                         # reports failed or were interrupted
  lagging: true                         # a copy of the warehouse lags
  outage: 1h                            # a run waits for so long, and when it is over; or false
  drift: true                           # the service sends something new
  rejects: true                         # more rejected records than quality.max_reject_ratio
  indexed_drop: 5%                      # a website has fewer indexed pages by more than this; or a number; or false
  directory_drop: 20%                   # the same of one directory
  watch: []                             # patterns of pages that must stay indexed: ["/checkout/*"]
  robots_blocked: 10                    # more pages than this are newly blocked by robots.txt; or false
  canonical_flips: 50                   # more canonicals than this changed to another page; or false

schedule:                               # for: indexhouse schedule
  time_zone: UTC                        # of the times below
  catch_up: 12h                         # a job that was missed by less runs once the daemon is back
  jitter: 0s                            # each job starts up to this much later
  nightly-sync: "0 2 * * *"             # minute, hour, day, month, weekday; false: never
  maintain: false                       # such as "0 6 * * 0": every Sunday at 06:00
  verify: false                         # the same for verify
  report: false                         # and for a report of the last seven days

report:                                 # for: the job report
  folder: ./reports                     # dated files
  keep: 30                              # the newest ones; older ones are deleted

service:                                # for: indexhouse serve
  host: 127.0.0.1                       # address to listen on; beyond loopback only with a key
  port: 8090                            # 0 picks a free one
  requests_per_minute: unlimited        # for each key; or a number
  page_size: 100                        # entries per window if a request has no limit
  max_page_size: 1000                   # largest window
  connections_per_address: 256          # open connections per client address
  trust_proxy: []                       # proxies whose X-Forwarded-… headers are trusted: [127.0.0.1]
  allowed_hosts: []                     # host names to answer to: [indexhouse.example.com]; localhost always works
  secure_cookies: false                 # true: cookies over HTTPS only, even if no trusted proxy reports it
  cors: []                              # origins whose pages may use the API: [https://app.example.com]
  access_log: false                     # true: log each request
`;
