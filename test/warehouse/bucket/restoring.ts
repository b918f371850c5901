import { join } from 'node:path';
import { beforeAll, beforeEach } from 'vitest';
import { type GivenBucket, startBucket } from '../../given/bucket.js';
import { buildOddNights, copyTo } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { findingsOf } from '../../given/verified.js';
import { sharedWarehouse } from '../../given/warehouse.js';

const TABLES = ['coverage', 'url_reports', 'page_versions', 'pages', 'snapshots', 'coverage_summary', 'runs'];
const ALL = `select ${TABLES.map((table) => `(select bit_xor(hash(t::text)) from ${table} as t)`).join(', ')}`;

let server: GivenBucket;
let stored: GivenBucket['objects'];
let folder = '';
let config = '';

/** A bucket that holds a copy of a warehouse before each test, and what restores it into a folder of its own. */
export function givenStored() {
  const built = sharedWarehouse(buildOddNights);
  beforeAll(async () => {
    server = await startBucket({ pageSize: 7, prefix: '/nights' });
    await copyTo(server, built.path);
    stored = new Map(server.objects);
  });
  beforeEach(() => {
    Object.assign(server, { fault: null, objects: new Map(stored), requests: [] });
    folder = temporaryFolder();
    config = writeConfig(folder, { sections: { bucket: server.url } });
  });
  const warehouse = () => join(folder, 'warehouse');
  return {
    get server() {
      return server;
    },
    /** The objects as they were sent. */
    get stored() {
      return stored;
    },
    get folder() {
      return folder;
    },
    get config() {
      return config;
    },
    built,
    warehouse,
    restore: (...flags: string[]) => run(['restore', '--config', config, ...flags]),
    ask: (path: string, sql = ALL) => run(['query', '--sql', sql, '--json', '--warehouse', path]),
    /** But for `indexhouse.duckdb`, which the next sync makes. */
    differences: async () => (await findingsOf(warehouse())).filter(({ level }) => level === 'difference'),
  };
}
