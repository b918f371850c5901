import { type Command, Option } from 'commander';
import { JOB_NAMES } from '../../daemon/job.js';
import type { Define } from '../io.js';
import { faultRates, requestRate, wholeNumber } from './flag-values.js';

const DEMO_HELP = `
Examples:
  indexhouse demo
  indexhouse demo --serve
  indexhouse demo --source google      a month of a Search Console property, in about a minute
  indexhouse demo --nights 60 --pages 500 --folder /tmp/demo`;

const LOGIN_HELP = `
The sign-in is for webmasters.readonly alone. docs/search-console.md, "What Google may refuse", lists the fixes.`;

const ACCOUNT = 'one of google.accounts (default: the account without a name)';

const SIMULATE_HELP = `
The world begins so many --nights ago and has reached this hour. Time stands still until you advance it; then crawls,
changes and ages are those of a night later:
  curl -X POST http://127.0.0.1:8089/control/advance?nights=1

Fault kinds: 401, 403, 429, 500, 503, reset, redirect, html, invalid_json, slow, truncated, violation, wrong_url.
Each rate is the share of requests that fail this way.

Examples:
  indexhouse simulate
  indexhouse simulate --pages 20000 --rate-limit unlimited --faults reset=0.01,503=0.02
  indexhouse simulate --website shop blog --seed 7 --nights 30
  indexhouse simulate --start 2026-01-01T02:00:00Z      the same dates each time
  indexhouse simulate --source google --inspections-per-day 500      a Search Console: properties, sitemaps, inspections

The rate limit is the API's alone; quota and latency are those of Search Console.`;

const SYNC_HELP = `
Columns of its table: missing, pages that the service has no report of (404); failed, reports that could not be fetched;
rejected, records that break the contract; utilised, requests ÷ those that the rate limit allowed.

Examples:
  indexhouse sync                                 one run now, every configured website
  indexhouse sync --website example.com --max-reports 0   the listing of one website only
  indexhouse sync --dry-run --max-reports 500     what a smaller run would fetch, how long it takes and what it leaves
  indexhouse sync --deadline 6h --json            for a script: stop fetching after six hours
  indexhouse sync --recover                       only finish an interrupted run`;

const SCHEDULE_HELP = `
Examples:
  indexhouse schedule                      run until stopped; each job at its time under \`schedule\`
  indexhouse schedule --once nightly-sync  run a job now, as the daemon would, and exit with its exit code

SIGTERM or Ctrl-C stops it cleanly: a sync that is running leaves a journal, and the next one resumes it.`;

/** The commands to start with, and those that fetch. */
export function runCommands(define: Define): Command[] {
  return [
    define('init', () => import('../commands/init.js'))
      .description('write a commented indexhouse.yaml (never over an existing one)')
      .addOption(new Option('--source <source>', 'google: for Search Console').choices(['api', 'google']))
      .option('--full', 'with every key, its description and its default')
      .option('--yes', 'with `--source google`: write every property that the account can read, without a question'),
    define('login', () => import('../commands/login.js'))
      .description('sign in to Search Console in a browser, with an OAuth client of your own')
      .option('--client <file>', 'JSON file of the client, type "Desktop app"')
      .option('--account <name>', ACCOUNT)
      .option('--no-browser', 'print the address, and take the pasted answer: for servers')
      .addHelpText('after', LOGIN_HELP),
    define('logout', async () => ({ run: (await import('../commands/login.js')).logout }))
      .description('revoke that sign-in, and delete its file')
      .option('--account <name>', ACCOUNT),
    define('doctor', () => import('../commands/doctor.js')).description(
      'check config, token, access to each website, folder, locks, disk and clock',
    ),
    simulateCommand(define),
    define('demo', () => import('../commands/demo.js'))
      .description('try everything: a simulated service, weeks of nightly syncs, first answers')
      .addOption(new Option('--source <source>', 'what to simulate').choices(['api', 'google']).default('api'))
      .option('--folder <folder>', 'folder for the demo; replaces that of an earlier demo', 'indexhouse-demo')
      .option('--pages <number>', 'pages of the site (default: 3000; google: 6000)', wholeNumber(10, 100_000))
      .option('--nights <number>', 'nights to sync (default: 14; google: 21)', wholeNumber(1, 400))
      .option('--seed <number>', 'same seed, same world', wholeNumber(0, 2 ** 31 - 1), 1)
      .option('--serve', 'then serve the dashboard, with a key for it, until Ctrl-C')
      .addHelpText('after', DEMO_HELP),
    define('sync', () => import('../commands/sync.js'))
      .description('fetch the listing and the reports of each website, and commit a snapshot')
      .option('-w, --website <id...>', 'only these websites, by id or name')
      .option('--max-reports <number>', 'reports to fetch at most; 0: the listing only', wholeNumber())
      .option('--deadline <duration>', 'stop fetching reports after this long, such as 6h, and commit what is there')
      .option('--recover', 'only finish an interrupted run')
      .addOption(
        new Option(
          '--dry-run',
          'only show the plan, without a request: what it asks for, and how long it takes',
        ).conflicts(['recover', 'retryFor']),
      )
      .option('--retry-for <duration>', 'wait this long for an outage to pass, such as 6h, and resume')
      .addHelpText('after', SYNC_HELP),
    define('inspect', () => import('../commands/inspect.js'))
      .description('inspect pages of Search Console now, and commit what they say')
      .argument('[url...]', 'addresses of pages')
      .option('--file <path>', 'a file with one address a line; # begins a comment'),
    define('schedule', () => import('../commands/schedule.js'))
      .description('run as a daemon: each job at its scheduled time')
      .addOption(new Option('--once <job>', 'run this job now and exit').choices(JOB_NAMES))
      .addHelpText('after', SCHEDULE_HELP),
  ];
}

function simulateCommand(define: Define): Command {
  return define('simulate', () => import('../commands/simulate.js'))
    .description(
      'run a seeded, evolving upstream service with fault injection, for trying out and testing; POST /control/advance?nights=1 advances it and its dates by a night',
    )
    .addOption(new Option('--source <source>', 'what to simulate').choices(['api', 'google']).default('api'))
    .option('--port <number>', 'port to listen on; 0 picks a free one', wholeNumber(0, 65_535), 8089)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--seed <number>', 'same seed, same world', wholeNumber(0, 2 ** 31 - 1), 1)
    .option('--pages <number>', 'pages of each website', wholeNumber(0, 5_000_000), 3000)
    .option('--website <id...>', 'ids of the websites', ['645f2e5cd8cd9b7bd8b55ab1'])
    .option('--token <token>', 'API key with access to them', 'demo-token')
    .option('--nights <number>', 'nights to simulate first', wholeNumber(0, 10_000), 0)
    .option('--start <time>', 'time of the first night, ISO 8601 (default: so that the last night is now)')
    .option(
      '--write-config <file>',
      'write a configuration for it, whose nights have simulated dates: 30 nights ago and later',
    )
    .option<number | 'unlimited'>(
      '--rate-limit <per minute>',
      'requests per minute for the key, or "unlimited"',
      requestRate,
      60,
    )
    .addOption(
      new Option('--faults <rates>', 'how often which request fails, to see what your alerts say of it: kind=rate,…')
        .argParser(faultRates)
        .default({}, 'none'),
    )
    .option('--inspections-per-day <number>', 'quota of each property', wholeNumber(0, 10_000_000), 2000)
    .option('--latency <milliseconds>', 'how long an inspection takes; really 6,000', wholeNumber(0, 60_000), 0)
    .addHelpText('after', SIMULATE_HELP);
}
