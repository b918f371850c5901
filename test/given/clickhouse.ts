import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { Engine } from '../../src/storage/engine.js';

export const PASSWORD = 'gehe"im\\+ü';
const AUTHORIZATION = `Basic ${Buffer.from(`default:${PASSWORD}`).toString('base64')}`;
const row = z.record(z.string(), z.unknown());

export interface GivenClickhouse {
  url: string;
  /** As they arrived, with their values bound. */
  statements: string[];
  /** How the request of this number from 0 is broken off: before it is run, or after it. */
  fault: ((number: number) => 'before' | 'after' | null) | null;
  /** Rows of its database. */
  rows(query: string): Promise<Record<string, unknown>[]>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** A server that answers the statements of the follower as ClickHouse would, with DuckDB. It keeps no views. */
export async function startClickhouse(folder: string): Promise<GivenClickhouse> {
  let engine = await Engine.open({ memoryLimit: 256e6, temporary: folder });
  let exists = false;
  const comments = new Map<string, string>();

  async function answer(url: URL, body: Buffer): Promise<unknown> {
    const insert = url.searchParams.get('query');
    if (url.searchParams.get('database') !== 'indexhouse') {
      exists = true;
      return '';
    }
    if (!exists) throw new Error('Code: 81. DB::Exception: Database indexhouse does not exist. (UNKNOWN_DATABASE)');
    if (insert !== null) {
      const file = join(folder, 'received.parquet');
      writeFileSync(file, body);
      const table = /^INSERT INTO "(\w+)"/.exec(insert)?.[1];
      await engine.run(`insert into ${table} by name select * from read_parquet($file)`, { file });
      return '';
    }
    const text = body.toString();
    if (text.includes('system.tables')) return JSON.stringify({ data: await described() });
    const view = /^create or replace view (\w+)[\s\S]*\ncomment '(\w+)'$/m.exec(text);
    if (view) {
      comments.set(`${view[1]}`, `${view[2]}`);
      return '';
    }
    for (const statement of translated(text)) {
      const bound = Object.fromEntries(
        [...statement.matchAll(/\$(\w+)/g)].map(([, name]) => [name, value(url, `${name}`)]),
      );
      const rows = await engine.rows(row, statement, bound);
      if (/^\s*select/.test(statement)) return JSON.stringify({ data: rows });
    }
    return '';
  }

  async function described() {
    const query =
      "select table_name as name, '' as comment, list(column_name) as columns from duckdb_columns() where not internal group by 1";
    const views = [...comments].map(([name, comment]) => ({ name, comment, columns: ['x'] }));
    return [...(await engine.rows(row, query)), ...views];
  }

  const given = { statements: [] as string[], fault: null as GivenClickhouse['fault'] };
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const fault = given.fault?.(given.statements.length) ?? null;
    const isInsert = url.searchParams.has('query');
    given.statements.push(isInsert ? `${url.searchParams.get('query')}` : Buffer.concat(chunks).toString());
    if (request.headers.authorization !== AUTHORIZATION) {
      const echoed = `${request.headers.authorization} ${PASSWORD}`;
      response
        .writeHead(403)
        .end(`Code: 516. DB::Exception: ${echoed}: Authentication failed. (AUTHENTICATION_FAILED)`);
    } else if (fault === 'before') request.socket.destroy();
    else {
      const [status, text] = await answer(url, Buffer.concat(chunks)).then(
        (text) => [200, text] as const,
        (error: Error) =>
          [
            500,
            error.message.startsWith('Code')
              ? error.message
              : `Code: 1. DB::Exception: ${error.message} (STD_EXCEPTION)`,
          ] as const,
      );
      if (fault === 'after') request.socket.destroy();
      else response.writeHead(status).end(text);
    }
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return Object.assign(given, {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    rows: (query: string) => engine.rows(row, query),
    reset: async () => {
      engine.close();
      engine = await Engine.open({ memoryLimit: 256e6, temporary: folder });
      Object.assign(given, { statements: [], fault: null });
      exists = false;
      comments.clear();
    },
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
      engine.close();
    },
  });
}

/** The statements of DuckDB that do what one of ClickHouse does. */
function translated(text: string): string[] {
  const plain = text
    .replace(/\nFORMAT JSON$/, '')
    .replace(/(=|in) \{(\w+):[^}]+\}/g, (_, operator, name) => (operator === 'in' ? `= any($${name})` : `= $${name}`))
    .replace(/ engine = MergeTree.*$/s, '')
    .replace(/Nullable\(([^()]+(\([^()]*\))?)\)/g, '$1')
    .replace(/Array\((\w+)\)/g, '$1[]')
    .replace(/DateTime64\([^)]*\)/g, 'timestamptz')
    .replace(/\bDate32\b/g, 'date')
    .replace(/\bFloat64\b/g, 'double')
    .replace(/\bInt(32|64)\b/g, (_, bits) => (bits === '32' ? 'integer' : 'bigint'));
  const [, , partition] = /^alter table page_state (replace|drop) partition \{(\w+):String\}/.exec(text) ?? [];
  if (partition !== undefined) {
    const removed = `delete from page_state where website_id = $${partition}`;
    return text.includes(' from ') ? [removed, 'insert into page_state by name from page_state_next'] : [removed];
  }
  const added = /^alter table (\w+) add column/.exec(plain);
  return added
    ? plain
        .replace(/^alter table \w+ /, '')
        .split(/, (?=add column)/)
        .map((one) => `alter table ${added[1]} ${one}`)
    : [plain];
}

/** A bound value, which arrives as ClickHouse writes it: with escapes, lists in brackets. */
function value(url: URL, name: string): string | string[] {
  const text = url.searchParams.get(`param_${name}`) ?? '';
  const unescaped = (escaped: string) => escaped.replace(/\\(.)/g, '$1');
  if (!text.startsWith('[')) return unescaped(text);
  return [...text.matchAll(/'((?:[^'\\]|\\.)*)'/g)].map(([, one]) => unescaped(`${one}`));
}
