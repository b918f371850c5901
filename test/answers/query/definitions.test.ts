import { expect, test } from 'vitest';
import { Definitions } from '../../../src/answers/query/definitions.js';
import { emptyFile, emptyFileScript } from '../../../src/answers/query/source-files.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { temporaryFolder } from '../../given/folder.js';
import { MEMORY_LIMIT } from '../../given/served.js';

test('each table, view and macro can be made alone, with no more than what it names', async () => {
  const folder = temporaryFolder();
  const empty = emptyFile(folder);
  const options = { memoryLimit: MEMORY_LIMIT, temporary: folder, sharedViews: true };
  await withEngine(options, (engine) => engine.run(emptyFileScript(folder)));
  for (const name of new Definitions('UTC', empty).names)
    await withEngine(options, (engine) => new Definitions('UTC', empty).make(engine, [name], new Set()));
  const definitions = new Definitions('UTC', empty);
  expect(definitions.needed(['select', 'Page_History'])).toEqual(
    expect.arrayContaining(['page_history', 'page_versions', 'is_listed']),
  );
  expect(definitions.needed(['page_history'])).not.toContain('page_state');
});
