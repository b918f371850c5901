import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sections } from './warehouse.js';

const NOBODY = 'http://127.0.0.1:9';

export interface GivenConfig {
  /** Left out where nothing is to be asked: nobody answers there. */
  baseUrl?: string;
  token?: string;
  /** Ids or whole entries; `all` if left out. */
  websites?: (string | { id: string; [key: string]: string | number })[];
  /** To lay over the keys made here. */
  sections?: Sections;
}

/** Writes an `indexhouse.yaml` (JSON is YAML) for a service that is asked as fast as it answers, and names its file. */
export function writeConfig(
  folder: string,
  { baseUrl = NOBODY, token = 'demo-token', websites, sections = {} }: GivenConfig = {},
): string {
  const file = join(folder, 'indexhouse.yaml');
  const api = { base_url: baseUrl, token, requests_per_minute: 'unlimited', ...sections['api'] };
  const warehouse = {
    path: join(folder, 'warehouse'),
    // So little that DuckDB takes one thread: a second one only costs where rows are few.
    memory_limit: '256MB',
    ...sections['warehouse'],
  };
  const ids = websites ? { websites: websites.map((one) => (typeof one === 'string' ? { id: one } : one)) } : {};
  writeFileSync(file, JSON.stringify({ ...ids, ...sections, api, warehouse }, null, 2));
  return file;
}
