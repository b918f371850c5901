import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../../base/exit.js';
import { packageFolder } from '../../base/storage/sql.js';
import { makeTemporary, removeTemporary } from '../../base/storage/temporary.js';
import { type Rows, rowsSchema } from './rows.js';

const PROGRAM = ['dist', 'src', 'serve', 'assistant', 'sql-process.js'];
/** From the start of the process to its answer. */
export const TIME_LIMIT_MS = 20_000;
const COUNT_MS = 3000;
export const SQL_MEMORY_BYTES = 512_000_000;
const SPILL_LIMIT_BYTES = 1_000_000_000;
/** What Node.js and DuckDB need in addition. */
const PROCESS_BYTES = 400_000_000;
const HEAP_MB = 256;
const TOO_LARGE = 'the statement needed too much memory: select fewer rows or shorter values';

type Asked = Pick<SqlRequest, 'warehouse' | 'websites' | 'sql' | 'limit' | 'offset'>;

/**
 * Runs one statement in a separate process, which can only open the files of these websites, and has neither the
 * environment nor the time to do harm.
 *
 * @throws UsageError if the statement is refused
 */
export async function runSql(
  request: Asked,
  signal: AbortSignal,
  { timeLimitMs = TIME_LIMIT_MS, memoryLimit = SQL_MEMORY_BYTES } = {},
): Promise<Rows> {
  const folder = makeTemporary('sql');
  const child = fork(join(packageFolder(), ...PROGRAM), [], {
    cwd: folder,
    env: { TMPDIR: folder },
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit');
  const limits = { memoryLimit, spillLimit: SPILL_LIMIT_BYTES, processLimit: memoryLimit + PROCESS_BYTES };
  const kill = () => child.kill('SIGKILL');
  const timer = setTimeout(kill, timeLimitMs);
  signal.addEventListener('abort', kill, { once: true });
  try {
    signal.throwIfAborted();
    child.send({ ...request, ...limits, countMs: COUNT_MS });
    const startedAt = performance.now();
    const answer = await answerOf(child);
    signal.throwIfAborted();
    const isLate = performance.now() - startedAt >= timeLimitMs;
    const late = `stopped after ${timeLimitMs / 1000} s: select fewer rows, a shorter period or one website`;
    if (answer === null) throw new UsageError(`query_sql: ${isLate ? late : TOO_LARGE}`);
    if ('refused' in answer) throw new UsageError(answer.refused);
    if ('failed' in answer) throw new Error(answer.failed);
    return answer.rows;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
    kill();
    await ended;
    removeTemporary(folder);
  }
}

/** The answer of the process; null if it ended without one. */
async function answerOf(child: ChildProcess) {
  const message = await new Promise<unknown>((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => resolve(null));
    child.once('error', reject);
  });
  return message === null ? null : sqlAnswer.parse(message);
}

/** The request to the process that runs a client's SQL. */
export const sqlRequest = z.object({
  warehouse: z.string(),
  /** Ids; null: all. */
  websites: z.array(z.string()).readonly().nullable(),
  /** Bytes: for DuckDB, for its spill files, and for the whole process, which ends itself above that. */
  memoryLimit: z.number(),
  spillLimit: z.number(),
  processLimit: z.number(),
  sql: z.string(),
  limit: z.int(),
  offset: z.int(),
  /** Time limit for counting all rows, in milliseconds. */
  countMs: z.number(),
});
export type SqlRequest = z.infer<typeof sqlRequest>;

/** Its answer; `refused` is reported to the client, `failed` only to the log. */
const sqlAnswer = z.union([
  z.object({ rows: rowsSchema }),
  z.object({ refused: z.string() }),
  z.object({ failed: z.string() }),
]);
export type SqlAnswer = z.infer<typeof sqlAnswer>;
