import { expect } from 'vitest';
import { z } from 'zod';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import type { Night } from '../../given/warehouse.js';

export const HOSTILE = `=1+"'><script>alert(1)</script>{b}`;
export const ESCAPED = '=1+&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;{b}';
const NIGHTS = 9;

/** Pages of a site, the first ones of which are not indexed. */
function pages(site: string, fallen: number) {
  return Array.from({ length: 40 }, (_, at) => {
    const state = { index_summary: at < fallen ? 'Not Indexed' : 'Indexed' };
    return { url: `https://${site}.example/blog/${at}`, entry: state };
  });
}

/** The websites `shop` and `other` from 2025-03-01 on; half of each falls out on the last night, 2025-03-09. */
export const nights = Array.from({ length: NIGHTS }, (_, at): Night => {
  const fallen = at === NIGHTS - 1 ? 20 : 0;
  const lists = { shop: pages('shop', fallen), other: pages('other', fallen) };
  return { at: new Date(Date.UTC(2025, 2, 1 + at, 2)).toISOString(), lists, sections: { reports: { max_per_run: 0 } } };
});

const addedSchema = z.object({ note_id: z.string(), listed: z.boolean(), followers: z.array(z.unknown()).nullable() });

/** A configuration for a warehouse. */
export function configOf(warehouse: string, sections = {}): string {
  return writeConfig(temporaryFolder(), { sections: { warehouse: { path: warehouse }, ...sections } });
}

/** A copy of a warehouse, with a configuration beside it. */
export function given(built: string, sections = {}) {
  const warehouse = copyOf(built);
  const config = configOf(warehouse, sections);
  const command = (...words: string[]) => run([...words, '--config', config, '--log-level', 'error']);
  const note = async (...words: string[]) => {
    const { code, stdout, stderr } = await command('note', ...words, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return addedSchema.parse(JSON.parse(stdout));
  };
  return { warehouse, config, command, note };
}
