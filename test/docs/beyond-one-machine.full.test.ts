import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { packageFolder } from '../../src/base/storage/sql.js';
import { analysisRows, openReader } from '../answers/query/given.js';
import { environmentOf } from '../given/bucket.js';
import { PROGRAM } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { atEnd, folderOnDisk } from '../given/folder.js';
import { CACHE } from '../given/packages.js';
import { hasServer, startRealServer } from '../given/s3-servers.js';

const PAGES = 60;
const GUIDE = readFileSync(join(packageFolder(), 'docs', 'beyond-one-machine.md'), 'utf8');
const [, CLUSTER = ''] = GUIDE.split('\n## From a laptop to a cluster\n');
const [FILL = '', CLICKHOUSE = '', SPARK = ''] = [...CLUSTER.matchAll(/```sh\n([\s\S]*?)```/g)].map(
  ([, block]) => block,
);
const [, TREND = ''] = /```sql\n([\s\S]*?)```/.exec(GUIDE) ?? [];
const MISSING = /No matching distribution.*|JAVA_HOME is not set|unresolved dependency.*/;

describe.runIf(hasServer())('the commands of the guide, from a laptop to a cluster', () => {
  const cwd = folderOnDisk('lake');
  let env: Record<string, string>;

  beforeAll(async () => {
    const simulator = await startSimulator({ websites: [{ id: 'a/b %é', pages: PAGES }] });
    const { config, close } = await startRealServer(join(cwd, 'server'));
    atEnd(close);
    // What makes `node .` the program in this folder, too.
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ main: PROGRAM }));
    writeFileSync(join(cwd, 'trend.sql'), TREND);
    env = {
      INDEXHOUSE_TOKEN: 'demo-token',
      INDEXHOUSE_API_BASE_URL: simulator.url,
      INDEXHOUSE_API_REQUESTS_PER_MINUTE: 'unlimited',
      ...environmentOf(config),
      SPARK_LOCAL_IP: '127.0.0.1',
      // Where Spark keeps the packages that it downloads.
      JAVA_TOOL_OPTIONS: `-Duser.home=${CACHE}`,
    };
    const { exitCode, stderr } = await bash(FILL);
    if (exitCode !== 0) throw new Error(stderr);
  });

  test.for([
    ['ClickHouse', CLICKHOUSE],
    ['Spark', SPARK],
  ] as const)('%s answers from the bucket as query does', async ([, commands], context) => {
    const { exitCode, stdout, stderr } = await bash(commands);
    const missing = MISSING.exec(`${stdout}${stderr}`);
    if (missing) context.skip(`skipped: ${missing[0]}`);
    if (exitCode !== 0) throw new Error(stderr.slice(-5000));
    const reader = await openReader(join(cwd, 'warehouse'));
    const rows = await analysisRows(reader, 'indexing_trend', {});
    expect(rows).toMatchObject([{ pages: PAGES }]);
    const shown = ['website_id', 'snapshot_date', 'pages', 'indexed'];
    const [first] = rows.map((row) => shown.map((name) => row[name]).join('\t'));
    expect(stdout).toContain(first);
    if (commands === SPARK) expect(stdout.split('\n')).toContain(String(PAGES));
  });

  async function bash(commands: string) {
    const child = spawn('bash', ['-e', '-c', commands], { cwd, env: { ...process.env, ...env } });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { exitCode: child.exitCode, stdout, stderr };
  }
});
