import { expect, it } from 'vitest';
import { z } from 'zod';
import { attachSuited, migrate } from '../../src/followers/duckdb.js';
import { withEngine } from '../../src/storage/engine.js';
import { temporaryFolder } from '../given/folder.js';

const COLUMNS = ['url', 'searchengine_selected_canonical', 'user_selected_canonical'];

it('the addresses in page_state, which is written whole each night, are compressed', async (test) => {
  const folder = temporaryFolder(test.onTestFinished);
  await withEngine({ memoryLimit: 256e6, temporary: `${folder}/tmp` }, async (engine) => {
    await attachSuited(engine, `${folder}/a.duckdb`, 'a');
    await migrate(engine);
    await engine.run(
      `insert into page_state by name
       select 'w' as website_id, 'https://w.example/' || range as url, now() as first_seen_at, now() as last_seen_at,
         url as searchengine_selected_canonical, url as user_selected_canonical, 0 as absences,
         0 as consecutive_failures
       from range(50000)`,
    );
    await engine.run('checkpoint');
    const segments = await engine.rows(
      z.object({ column_name: z.string(), compression: z.string() }),
      "select distinct column_name, compression from pragma_storage_info('page_state') where segment_type = 'VARCHAR'",
    );
    const found = segments.filter(({ column_name }) => COLUMNS.includes(column_name));
    expect(new Set(found.map(({ column_name }) => column_name))).toEqual(new Set(COLUMNS));
    expect(new Set(found.map(({ compression }) => compression))).toEqual(new Set(['FSST']));
  });
});
