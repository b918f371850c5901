import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.js';
import { packageFolder } from '../../src/storage/sql.js';
import { openReader, rowsOf } from '../analysis/given.js';
import { PROGRAM } from '../given/cli.js';
import { folderOnDisk } from '../given/folder.js';
import { CACHE } from '../given/packages.js';
import { hasServer, startRealServer } from '../given/s3-servers.js';

const PAGES = 60;
const GUIDE = readFileSync(join(packageFolder(), 'docs', 'beyond-one-machine.md'), 'utf8');
const MISSING = /No matching distribution.*|JAVA_HOME is not set|unresolved dependency.*/;

test.runIf(hasServer('moto'))(
  'the commands from a laptop to Spark on a bucket run as they stand there',
  async (context) => {
    const [, commands = ''] = /### From a laptop to Spark on a bucket\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(GUIDE) ?? [];
    const cwd = folderOnDisk('spark');
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const simulator = await startSimulator({ websites: [{ id: 'a/b %é', pages: PAGES }] });
    onTestFinished(() => simulator.close());
    const { config, close } = await startRealServer('moto', cwd);
    onTestFinished(close);
    // What makes `node .` the program in this folder, too.
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ main: PROGRAM }));
    const { exitCode, stdout, stderr } = await bash(commands, cwd, {
      INDEXHOUSE_TOKEN: 'demo-token',
      INDEXHOUSE_API_BASE_URL: simulator.url,
      INDEXHOUSE_API_REQUESTS_PER_MINUTE: 'unlimited',
      INDEXHOUSE_WAREHOUSE_MIN_FREE_DISK: '1MB',
      AWS_ACCESS_KEY_ID: config.access_key_id ?? '',
      AWS_SECRET_ACCESS_KEY: config.secret_access_key ?? '',
      AWS_ENDPOINT_URL: config.endpoint ?? '',
      SPARK_LOCAL_IP: '127.0.0.1',
      // Where Spark keeps the packages that it downloads.
      JAVA_TOOL_OPTIONS: `-Duser.home=${CACHE}`,
    });
    const missing = MISSING.exec(`${stdout}${stderr}`);
    if (missing) context.skip(`skipped: no Spark with Iceberg: ${missing[0]}`);
    expect([exitCode, stderr.slice(-5000)]).toEqual([0, expect.anything()]);
    const reader = await openReader(join(cwd, 'warehouse'));
    const states = await rowsOf(
      reader,
      'select index_coverage_state as state, count(*) as pages from page_state group by all',
    );
    reader.close();
    expect(states.length).toBeGreaterThan(1);
    const lines = stdout.split('\n');
    for (const { state, pages } of states) expect(lines).toContain(`${state ?? 'NULL'}\t${pages}`);
    expect(lines).toContain(String(PAGES));
  },
);

async function bash(commands: string, cwd: string, env: Record<string, string>) {
  const child = spawn('bash', ['-e', '-c', commands], { cwd, env: { ...process.env, ...env } });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { exitCode: child.exitCode, stdout, stderr };
}
