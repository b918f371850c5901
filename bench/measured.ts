import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { EXIT } from '../src/base/exit.js';
import { packageFolder } from '../src/base/storage/sql.js';
import { runProgram, type ScriptOptions, TOKEN } from './processes.js';

const HOOK = join(packageFolder(), 'dist', 'bench', 'count-engines.js');
const NOBODY = 'http://127.0.0.1:9';

const countsOf = z.object({ seconds: z.number(), megabytes: z.number() });
/** The processor time of a process, and its largest memory. */
export type Counts = z.infer<typeof countsOf>;

/** Runs `indexhouse` over a warehouse, whose configuration it writes beside it. @param url where the service answers */
export function measureProgram(warehouse: string, args: string[], url = NOBODY): Promise<Counts> {
  const config = `${warehouse}.yaml`;
  const api = { base_url: url, token: TOKEN, requests_per_minute: 'unlimited' };
  // Its snapshots are old, and it has no copies, of which `status` warns.
  const status = { max_age: '3650d' };
  const codes = args[0] === 'status' ? [EXIT.done, EXIT.warnings] : [EXIT.done];
  writeFileSync(config, JSON.stringify({ api, status, warehouse: { path: warehouse } }));
  return measured((options) => runProgram([...args, '--config', config], { ...options, codes }));
}

/** Measures what runs in a process with these options. */
export async function measured(run: (options: ScriptOptions) => Promise<unknown>): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const file = join(folder, 'counts.json');
  try {
    await run({ cwd: folder, env: { COUNTS_FILE: file }, hooks: ['--import', HOOK] });
    return countsOf.parse(JSON.parse(readFileSync(file, 'utf8')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
