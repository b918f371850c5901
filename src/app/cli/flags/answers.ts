import { type Command, Option } from 'commander';
import type { Define } from '../io.js';
import { columnNames, prefix, repeated, requestRate, WAREHOUSE } from './flag-values.js';

const FORMATS = ['table', 'json', 'csv', 'parquet', 'xlsx', 'md'];

const STATUS_HELP = `
Columns of --verbose: expected, the pages that the service counts; rejected, records that break its contract; planned,
reports that were due; utilised, requests ÷ those that the rate limit allowed.

Examples:
  indexhouse status                        last runs, freshness, completeness, what is unfinished or lags
  indexhouse status --warehouse /data/wh   a folder, without a configuration
  indexhouse status --json || alert        for monitoring: exit code 3 if there are warnings
  indexhouse status --quiet                health check of a container`;

const QUERY_HELP = `
Without a name: lists the built-in analyses. A table shows what people read first, and never cuts a URL or a date: rows
that are wider than the terminal become cards. The other formats have every column of the answer. Dates like "6 days ago" count from the newest snapshot.
Both ends of a period are included: the last seven dates are those since "6 days ago".
\`limit=none\` lifts a default row limit.
SQL sees these tables and views (docs/data-dictionary.md): pages, page_state, page_history, page_changes, page_versions,
page_search, search_dates, search_days, search_ends, search_final, search_fresh, search_fetches, coverage, coverage_daily,
coverage_summary, daily_listings, listing_sources, url_reports, rich_results, referring_urls, report_failures,
rejected_records, quarantine, drift_observations, api_drift, snapshots, runs, notes, note_log and tombstones.

Examples:
  indexhouse query                                      list the analyses
  indexhouse query indexing_trend since="30 days ago"
  indexhouse query page url=https://example.com/a
  indexhouse query --sql "select website_id, count(*) from pages where is_indexed group by all" --format csv
  indexhouse query deindexed_pages --columns url,snapshot_date --out lost.xlsx
  indexhouse query indexing_trend --warehouse /data/wh
  indexhouse query --table links=crawl.csv --sql "from links"
  indexhouse query --file answer.sql site=example.com --out answer.parquet`;

const REPORT_HELP = `
One self-contained HTML file without scripts: open it from a mail attachment or on a phone, or print it.
Dates like "6 days ago" count from the newest snapshot; both ends are included.

Examples:
  indexhouse report                                       the last seven days into report.html
  indexhouse report --website example.com --since "29 days ago" --out example.html
  chromium --headless --print-to-pdf=report.pdf report.html     any browser prints it
  indexhouse report --brief --out brief.html               one page: what happened, where, why
  indexhouse report --format mail --out - | mail -a "Content-Type: text/html" -s "Index report" team@example.com`;

const ANALYTICS_HELP = `
The sync keeps warehouse/analytics.duckdb up to date, whose views hold the warehouse's path on this machine. This command
writes the same views for another path, such as the one under which a BI tool's container mounts the warehouse. New
snapshots appear in it automatically. Run it again after an upgrade and when a table gets its first rows: the file is
replaced, and a reader that has the old one open keeps it.

Example:
  indexhouse analytics --root /data/warehouse --out ./bi/analytics.duckdb`;

const SERVE_HELP = `
Sends the service no request and takes no lock, so syncs and queries can run meanwhile. Every client needs a key
(indexhouse keys). It speaks plain HTTP: put a proxy with TLS in front before others can reach it.

Examples:
  indexhouse keys add --label dashboard --website all    prints a token
  indexhouse serve                                       until Ctrl-C or SIGTERM
  indexhouse serve --warehouse /data/wh --port 0 --json  a folder, without a configuration, on a free port`;

const MCP_HELP = `
A server of the Model Context Protocol for AI assistants, which start it themselves and speak to it over stdin and stdout.
It only reads, never blocks a sync, and ends when the assistant closes stdin. Whoever starts it sees every website of the
warehouse; over the network, \`indexhouse serve\` offers the same at /mcp to the keys of \`indexhouse keys\`.

Example, as the configuration of many assistants has it:
  {"mcpServers": {"indexhouse": {"command": "indexhouse", "args": ["mcp", "--warehouse", "/data/warehouse"]}}}`;

const ADD_KEY_HELP = `
The token is printed once and stored nowhere; the warehouse keeps its SHA-256.

Examples:
  indexhouse keys add --label dashboard --website all
  indexhouse keys add --label contractor --website all --expires 90d
  indexhouse keys add --label partner --website 645f2e5cd8cd9b7bd8b55ab1 --json`;

/** The commands that answer from the warehouse. */
export function answerCommands(define: Define): Command[] {
  return [
    define('status', () => import('../commands/status.js'))
      .description('last runs, freshness, completeness, what is unfinished or lags')
      .option(...WAREHOUSE)
      .option('--verbose', 'every website and copy, and each finding by itself')
      .addOption(new Option('--metrics', "print metrics in Prometheus' text format").conflicts('json'))
      .addOption(
        new Option('--quiet', 'print nothing: for health checks, exit code 0 also before the first run').conflicts([
          'json',
          'metrics',
          'verbose',
        ]),
      )
      .addHelpText('after', STATUS_HELP),
    queryCommand(define),
    define('report', () => import('../commands/report.js'))
      .description('write a self-contained HTML report with charts: what changed in the index, where and why')
      .option('-o, --out <file>', 'the file to write; overwrites only an earlier report; - for stdout', 'report.html')
      .addOption(
        new Option('--format <format>', 'mail: a short form without charts').choices(['html', 'mail']).default('html'),
      )
      .option('--brief', 'its first page alone: one sheet of paper, two screens of a phone')
      .option('-w, --website <id>', 'only this website, by id or name')
      .option('--since <date>', 'first date (default: six days before the last)')
      .option('--until <date>', 'last date (default: that of the newest snapshot)')
      .option(...WAREHOUSE)
      .addHelpText('after', REPORT_HELP),
    define('analytics', () => import('../commands/analytics.js'))
      .description('write views for BI tools that see the warehouse under another path')
      .option('--root <path>', 'absolute path of the warehouse as readers see it (default: its path on this machine)')
      .requiredOption('-o, --out <file>', 'the DuckDB file to write; overwrites only an earlier one')
      .option(...WAREHOUSE)
      .addHelpText('after', ANALYTICS_HELP),
    define('serve', () => import('../commands/serve.js'))
      .description("serve the warehouse over the service's own HTTP API, past states included")
      .option('--host <address>', 'address to listen on; beyond loopback only with a key (default: 127.0.0.1)')
      .option('--port <number>', 'port to listen on; 0 picks a free one (default: 8090)')
      .option<number | 'unlimited'>(
        '--rate-limit <per minute>',
        'requests per minute and key, or "unlimited"',
        requestRate,
        'unlimited',
      )
      .addOption(
        new Option('--prefix <path>', 'path in front of /v1, e.g. /tenant/api').argParser(prefix).default('', 'none'),
      )
      .option(...WAREHOUSE)
      .addHelpText('after', SERVE_HELP),
    define('mcp', () => import('../commands/mcp.js'))
      .description('let an AI assistant ask the warehouse, read-only, over stdin and stdout (Model Context Protocol)')
      .option(...WAREHOUSE)
      .addHelpText('after', MCP_HELP),
    keysCommand(define),
  ];
}

function queryCommand(define: Define): Command {
  return define('query', () => import('../commands/query.js'))
    .description('query the warehouse: a built-in analysis, or SQL; read-only, never blocked by a sync')
    .argument('[name]', 'a built-in analysis')
    .argument('[name=value...]', 'its parameters, $name in SQL')
    .option('--sql <text>', 'one SQL query')
    .option('--file <file>', 'a file with one SQL query')
    .option('--table <name=file>', 'a file of your own as a table: CSV, TSV, Parquet, JSON; may be repeated', repeated)
    .option('--columns <names>', 'only these columns, separated by commas', columnNames)
    .addOption(
      new Option(
        '-f, --format <format>',
        "default: that of the file's extension, json with --json, else table",
      ).choices(FORMATS),
    )
    .option('-o, --out <file>', 'write there instead of stdout')
    .option('--force', 'overwrite an existing file, except those of the warehouse')
    .option('--raw-csv', 'no byte order mark, no escapes of text that a spreadsheet would run as a formula')
    .option('--describe <name>', 'what an analysis answers, its parameters and its SQL')
    .option(...WAREHOUSE)
    .addHelpText('after', QUERY_HELP);
}

function keysCommand(define: Define): Command {
  const load = () => import('../commands/keys.js');
  const add = define('add', async () => ({ run: (await load()).add }))
    .description('add a key, and print its token once')
    .requiredOption('-l, --label <text>', 'name of the key')
    .requiredOption('-w, --website <id...>', 'websites it has access to, by id or name, or "all", including later ones')
    .option('--expires <when>', 'a date (at its end, UTC), a time or a duration such as 90d (default: never)')
    .option(...WAREHOUSE)
    .addHelpText('after', ADD_KEY_HELP);
  const list = define('list', async () => ({ run: (await load()).list }))
    .description('list the keys, without their tokens')
    .option(...WAREHOUSE);
  const revoke = define('revoke', async () => ({ run: (await load()).revoke }))
    .description('revoke a key; a running service refuses it within two seconds')
    .argument('<id or label>', 'the id of the key, or its label if no other key has it')
    .option(...WAREHOUSE);
  return define('keys')
    .description('manage API keys for `indexhouse serve`')
    .addCommand(add)
    .addCommand(list)
    .addCommand(revoke);
}
