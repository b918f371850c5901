import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { packageFolder } from '../../src/base/storage/sql.js';
import { givenEveryTable } from '../given/every-table.js';
import { temporaryFolder } from '../given/folder.js';

const [GUIDE = ''] = readFileSync(join(packageFolder(), 'docs', 'bi', 'README.md'), 'utf8').split('\n## Tools\n');

test('the SQL of docs/bi/README.md finds rows, and counts a day that retention has thinned, too', async () => {
  const statements = [...GUIDE.matchAll(/^```sql\n([\s\S]*?)```/gm)].flatMap(([, sql = '']) => sql.split(/;\s*$/m));
  const file = join(await givenEveryTable(), 'analytics.duckdb');
  const answers = await withEngine(
    { file, readOnly: true, memoryLimit: 256e6, temporary: temporaryFolder() },
    async (engine) => {
      const rows = z.looseObject({ pages: z.coerce.number().optional() });
      const asked = statements.filter((sql) => sql.trim() !== '').map((sql) => engine.rows(rows, sql));
      return Promise.all(asked);
    },
  );
  expect(answers.length).toBeGreaterThan(2);
  for (const rows of answers) expect(rows).not.toEqual([]);
  expect(answers[0]?.map(({ pages }) => pages)).toEqual([10, 3]);
});
