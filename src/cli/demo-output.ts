import { relative } from 'node:path';
import { askAnalysis } from '../analysis/ask-analysis.js';
import { type Reader, withReader } from '../analysis/reader.js';
import type { DemoResult } from '../demo/demo.js';
import { colorsWanted, safe } from '../observe/terminal.js';
import type { Value } from '../storage/values.js';
import type { Io } from './io.js';
import { type Column, count, duration, formatJson, formatTable } from './output.js';

const MEMORY_LIMIT_BYTES = 500e6;
const EXAMPLE_PAGES = '3';

/** The columns of an analysis that a person reads here, by their names, with the head and the form of each. */
type Shown = Record<string, { head: string; form: (value: Value) => string }>;

const TREND: Shown = {
  snapshot_date: { head: 'date', form: plain },
  pages: { head: 'pages', form: whole },
  indexed: { head: 'indexed', form: whole },
  indexed_change: { head: 'change', form: signed },
  share_indexed: { head: 'share', form: percent },
};
const CHANGES: Shown = {
  snapshot_date: { head: 'date', form: plain },
  appeared: { head: 'appeared', form: whole },
  disappeared: { head: 'gone', form: whole },
  indexed: { head: 'indexed', form: whole },
  deindexed: { head: 'de-indexed', form: whole },
  canonical_flips: { head: 'canonical flips', form: whole },
  robots_changes: { head: 'robots', form: whole },
  crawled: { head: 'crawled', form: whole },
};
const DIRECTORIES: Shown = {
  directory: { head: 'directory', form: plain },
  pages: { head: 'pages', form: whole },
  deindexed: { head: 'de-indexed', form: whole },
  share_deindexed: { head: 'share', form: percent },
};

/** What the demo found, for people: the trend, what changed, where, and what to try next. */
export async function demoText(
  result: DemoResult,
  { nights, pages }: { nights: number; pages: number },
  { stdout, env, cwd }: Io,
): Promise<string> {
  const color = colorsWanted(stdout, env);
  return withReader({ warehouse: result.warehouse, memoryLimit: MEMORY_LIMIT_BYTES }, async (reader) => {
    const sections = [
      heading(result, nights, pages),
      await section(reader, 'How much of the site is indexed', 'indexing_trend', { shown: TREND, color }),
      await section(reader, 'What changed each night', 'changes_per_night', { shown: CHANGES, color }),
      await section(reader, 'Where pages fell out of the index', 'deindexed_by_directory', {
        shown: DIRECTORIES,
        color,
      }),
      next(result, await examplePage(reader), cwd),
    ];
    return `${sections.join('\n\n')}\n`;
  });
}

export function demoJson({ warehouse, config, report, receipts, tookMs }: DemoResult): string {
  return formatJson({ warehouse, config, report, took_ms: Math.round(tookMs), receipts });
}

function heading({ receipts, tookMs }: DemoResult, nights: number, pages: number): string {
  const websites = receipts.flatMap((receipt) => receipt.websites);
  const requests = websites.reduce((sum, website) => sum + website.requests.sent, 0);
  const reports = websites.reduce((sum, website) => sum + website.reports.fetched, 0);
  return (
    `${count(nights)} nights of a simulated site of ${count(pages)} pages, synced in ${duration(tookMs)}: ` +
    `${count(requests)} requests, ${count(reports)} URL reports,\neach page once and then only what had changed.`
  );
}

async function section(
  reader: Reader,
  title: string,
  analysis: string,
  { shown, color }: { shown: Shown; color: boolean },
): Promise<string> {
  const answer = await askAnalysis(reader, analysis);
  const columns = Object.entries(shown).map(([name, { head, form }]) => ({
    at: answer.columns.indexOf(name),
    head,
    form,
  }));
  const heads = columns.map(({ head, form }): Column => ({ name: head, align: form === plain ? 'left' : 'right' }));
  const rows = answer.rows.map((row) => columns.map(({ at, form }) => form(row[at] ?? null)));
  const table = formatTable(heads, rows, { color });
  return `${title} (query ${analysis})\n\n${indented(table)}`;
}

function plain(value: Value): string {
  return String(value ?? '');
}

function whole(value: Value): string {
  return count(Number(value ?? 0));
}

function signed(value: Value): string {
  const change = Number(value ?? 0);
  return change > 0 ? `+${count(change)}` : change < 0 ? `−${count(-change)}` : '';
}

function percent(value: Value): string {
  return `${(Number(value ?? 0) * 100).toFixed(1)}%`;
}

function indented(text: string): string {
  return text.trimEnd().replace(/^/gm, '  ');
}

/** A page that fell out of the index, to look at. */
async function examplePage(reader: Reader): Promise<string | null> {
  const { columns, rows } = await askAnalysis(reader, 'deindexed_pages', { limit: EXAMPLE_PAGES });
  const url = rows[0]?.[columns.indexOf('url')];
  return typeof url === 'string' ? url : null;
}

function next({ warehouse, config, report }: DemoResult, page: string | null, cwd: string): string {
  const file = quoted(relative(cwd, config));
  const timeline = page ? `  npx indexhouse query page_timeline --param url=${quoted(page)} --config ${file}\n` : '';
  const made = safe(relative(cwd, report));
  return `Warehouse: ${safe(relative(cwd, warehouse))}, report with charts: ${made}. Try next:

  npx indexhouse report --config ${file}
  npx indexhouse query deindexed_pages --config ${file}
${timeline}`.trimEnd();
}

/** As one word for a shell, and harmless for a terminal. */
function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${safe(text).replaceAll("'", `'\\''`)}'`;
}
