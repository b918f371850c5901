import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { Reader } from '../analysis/reader.js';
import { messageOf, UsageError } from '../exit.js';
import { size } from '../observe/format.js';
import { basisOf } from './basis.js';
import { readRows } from './rows.js';
import { type SqlAnswer, type SqlRequest, sqlRequest } from './sql-request.js';

// A program of its own: `runSql` starts it for one statement, and kills it when it takes too long or nobody waits any more.
// What somebody's SQL does to it, nothing else feels: strings that grow are counted by no limit of DuckDB, and some
// functions cannot be interrupted.

/** How often it looks at its own memory: DuckDB fills a few hundred megabytes in that time. */
const LOOK_MS = 20;
const OUT_OF_MEMORY = /\bOut of Memory Error\b|max_temp_directory_size/i;

/** The beginning of the name that the folder for its files has. */
const SQL_FOLDER = 'indexhouse-sql-';

process.once('disconnect', end);
// Who started it may have ended before this was heard.
if (!process.connected) end();
process.once('message', (message) => void serve(sqlRequest.parse(message)));

async function serve(request: SqlRequest): Promise<void> {
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() <= request.processLimit) return;
    clearInterval(watch);
    tell({ refused: needsMemory(request) });
  }, LOOK_MS);
  tell(await answer(request));
}

async function answer(request: SqlRequest): Promise<SqlAnswer> {
  const { warehouse, websites, memoryLimit, spillLimit, sql, limit, offset, countMs, now } = request;
  try {
    const reader = await Reader.open({ warehouse, memoryLimit, spillLimit, websites: websites ?? undefined });
    const question = { name: 'query_sql', sql, parameters: {} };
    const rows = await readRows(reader, question, { limit, offset }, countMs);
    return { rows, basis: await basisOf(reader, null, now) };
  } catch (error) {
    const message = messageOf(error).replaceAll(warehouse, '…').replaceAll(tmpdir(), '…');
    if (OUT_OF_MEMORY.test(message)) return { refused: needsMemory(request) };
    return error instanceof UsageError ? { refused: message } : { failed: message };
  }
}

function needsMemory({ memoryLimit }: SqlRequest): string {
  return `query_sql: the statement needs more memory than it may have (${size(memoryLimit)}): select fewer rows or shorter values`;
}

function tell(answer: SqlAnswer): void {
  process.send?.(answer, end);
}

/** At once, whatever still runs. */
function end(): void {
  // It was made for this process alone, and is removed by who made it, unless that is gone.
  if (basename(tmpdir()).startsWith(SQL_FOLDER)) rmSync(tmpdir(), { recursive: true, force: true });
  process.kill(process.pid, 'SIGKILL');
}
