import { type Command, Option } from 'commander';
import type { Define } from '../io.js';
import { calendarDate, WAREHOUSE } from './flag-values.js';

const VERIFY_HELP = `
Reads every committed file, so it takes as long as reading the whole warehouse. You can run it during a sync.

Exit codes: 0 no differences found; 1 differences found; 3 a follower lags.

Examples:
  indexhouse verify
  indexhouse verify --repair      also repair what is safe to repair: state, indexhouse.duckdb, orphaned files`;

const MAINTAIN_HELP = `
The key \`retention\` of the configuration controls what is removed; without it everything is kept. Parquet files
are hidden from readers first, and deleted by a run an hour later, so that queries can finish. A file with a page's newest
report, the last listing of a monitored page or the newest complete listing always stays. indexhouse.duckdb follows.

Exit codes: 0 done; 3 done, but a follower lags, such as indexhouse.duckdb while it is open elsewhere.

Examples:
  indexhouse maintain --dry-run      only show what would be removed, and why the rest stays
  indexhouse maintain                best once a day, after the sync`;

const REMOVE_HELP = `
Shows what would go, and asks. The warehouse is then as if the website had never been there.

Exit codes: 0 done; 2 nothing was removed; 3 done, but a follower lags, and the next sync catches up.

Example:
  indexhouse remove --website old.example      such as one that is no longer configured`;

const NOTE_HELP = `
Charts mark what you did, and the report and the analysis \`events\` put it beside what changed in the three days after it.
During a sync, too, a note is written at once.

Examples:
  indexhouse note 2026-11-18 "Relaunch of the blog" --directory /blog/
  indexhouse note --list
  indexhouse note --remove 019a9b6e-4c1f-7d2a-8f00-3c9d5e6a7b81      the id is in the list`;

const BACKUP_HELP = `
Copies what cannot be derived, and the states. You can run it during a sync. Files that an earlier backup copied are not
copied again. indexhouse.duckdb and analytics.duckdb are not in it: the first sync with the copy rebuilds them.

To restore, name the copy in \`warehouse.path\`, or copy it back.

Examples:
  indexhouse backup /mnt/backup/warehouse
  indexhouse backup /mnt/backup/warehouse --keys     with the keys of \`indexhouse serve\``;

const RESTORE_HELP = `
Fetches what the section \`bucket\` of the configuration sent to a bucket, and checks every object. If it is interrupted,
run it again. With --from and --warehouse it needs no configuration: the credentials are then those of AWS_ACCESS_KEY_ID
and AWS_SECRET_ACCESS_KEY, the server that of AWS_ENDPOINT_URL.

Examples:
  indexhouse restore --take-over --if-missing      before each sync of a machine that may lose its disk
  indexhouse restore --take-over                   once, on the machine that is to sync from now on
  indexhouse restore --from s3://lake/indexhouse --warehouse ./copy`;

const NOTIFY_HELP = `
After every sync, and each hour of \`indexhouse schedule\`, the channels of the \`notify\` section get notices about what is
wrong, each notice once. This command does the same now.

Exit codes: 0 done; 1 a channel did not take its message, which is sent again the next time.

Examples:
  indexhouse notify --test           send one notice of each kind to every channel
  indexhouse notify                  send what was not sent yet, in a cron job of its own`;

/** The commands that keep a warehouse in order. */
export function upkeepCommands(define: Define): Command[] {
  return [
    define('verify', () => import('../commands/verify.js'))
      .description('prove that nothing is lost: files, counts, keys, state, and every row of indexhouse.duckdb')
      .option('--repair', 'repair what is safe to repair')
      .option(...WAREHOUSE)
      .addHelpText('after', VERIFY_HELP),
    define('notify', () => import('../commands/notify.js'))
      .description('send notices about what is wrong to the configured channels')
      .option('--test', 'send one notice of each kind to every channel, and show the result')
      .addHelpText('after', NOTIFY_HELP),
    define('maintain', () => import('../commands/maintain.js'))
      .description('remove what is older than the configured retention, and free disk space')
      .option('--dry-run', 'only show what would be removed, and why the rest stays')
      .addHelpText('after', MAINTAIN_HELP),
    define('note', () => import('../commands/note.js'))
      .description('note what you did on a date, so that charts and events show it; list and remove notes')
      .argument('[date]', 'when it was, such as 2026-11-18', calendarDate)
      .argument('[text]', 'what it was, in up to 500 characters')
      .option('-w, --website <id...>', 'only for these websites, by id or name (default: all)')
      .option('--directory <path>', 'only for this directory, such as /blog/')
      .addOption(new Option('--list', 'list the notes').conflicts(['remove', 'website', 'directory']))
      .addOption(new Option('--remove <id>', 'remove a note').conflicts(['website', 'directory']))
      .addHelpText('after', NOTE_HELP),
    define('remove', () => import('../commands/remove.js'))
      .description('remove a website for good')
      .requiredOption('-w, --website <id>', 'the website, by id or name')
      .option('--yes', 'remove it without a question')
      .addHelpText('after', REMOVE_HELP),
    define('backup', () => import('../commands/backup.js'))
      .description('copy the warehouse to another folder while it is in use')
      .argument('<folder>', 'where to copy to')
      .option('--keys', 'also the keys of `indexhouse serve`')
      .option(...WAREHOUSE)
      .addHelpText('after', BACKUP_HELP),
    define('restore', () => import('../commands/restore.js'))
      .description('fetch the warehouse from the bucket that holds its copy')
      .option('--from <address>', 'the bucket, such as s3://name/prefix, instead of the configured one')
      .option('--if-missing', 'do nothing if there is a warehouse already')
      .option('--take-over', 'make this folder the owner of the bucket, in place of another one')
      .option(...WAREHOUSE)
      .addHelpText('after', RESTORE_HELP),
  ];
}
