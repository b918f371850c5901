import { rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { basename } from 'node:path';
import { Reader } from '../../answers/query/reader.js';
import { messageOf, UsageError } from '../../base/exit.js';
import { size } from '../../base/observe/format.js';
import { MemoryError } from '../../base/storage/engine.js';
import { readRows } from './rows.js';
import { type SqlAnswer, type SqlRequest, sqlRequest } from './run-sql.js';

// The program that `runSql` starts for one statement, and kills when it takes too long or the client is gone. A separate
// process contains what SQL can do: DuckDB's memory limit does not count growing strings, and some functions cannot be
// interrupted.

/** How often it checks its own memory: DuckDB can fill a few hundred megabytes in that time. */
const LOOK_MS = 20;
const OUT_OF_SPACE = /max_temp_directory_size/;

const LOW_PRIORITY = 10;

/** The prefix of its temporary folder's name. */
const SQL_FOLDER = 'indexhouse-sql-';

// Whoever reads the dashboard meanwhile comes first.
setPriority(LOW_PRIORITY);
process.once('disconnect', end);
// The parent may have ended before the listener was added.
if (!process.connected) end();
process.once('message', (message) => void serve(sqlRequest.parse(message)));

async function serve(request: SqlRequest): Promise<void> {
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() <= request.processLimit) return;
    clearInterval(watch);
    send({ refused: needsMemory(request) });
  }, LOOK_MS);
  send(await answerTo(request));
}

async function answerTo(request: SqlRequest): Promise<SqlAnswer> {
  const { warehouse, websites, memoryLimit, spillLimit, sql, limit, offset, countMs } = request;
  try {
    const reader = await Reader.open({ warehouse, memoryLimit, spillLimit, websites: websites ?? undefined });
    const question = { name: 'query_sql', sql, parameters: {} };
    return { rows: await readRows(reader, question, { limit, offset }, countMs) };
  } catch (error) {
    const message = messageOf(error).replaceAll(warehouse, '…').replaceAll(tmpdir(), '…');
    if (error instanceof MemoryError || OUT_OF_SPACE.test(message)) return { refused: needsMemory(request) };
    return error instanceof UsageError ? { refused: message } : { failed: message };
  }
}

function needsMemory({ memoryLimit }: SqlRequest): string {
  return `query_sql: the statement needs more memory than it may have (${size(memoryLimit)}): select fewer rows or shorter values`;
}

function send(answer: SqlAnswer): void {
  process.send?.(answer, end);
}

/** Ends the process at once, whatever is still running. */
function end(): void {
  // The folder belongs to this process alone. The parent removes it, unless the parent is gone.
  if (basename(tmpdir()).startsWith(SQL_FOLDER)) rmSync(tmpdir(), { recursive: true, force: true });
  process.kill(process.pid, 'SIGKILL');
}
