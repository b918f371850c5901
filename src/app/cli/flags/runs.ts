import { type Command, Option } from 'commander';
import { JOB_NAMES } from '../../daemon/job.js';
import type { Define } from '../command.js';
import { wholeNumber } from './flag-values.js';

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

/** The commands that fetch. */
export function runCommands(define: Define): Command[] {
  return [
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
