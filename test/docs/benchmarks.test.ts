import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { boundOf, PROMISES } from '../../bench/promises.js';

test('docs/benchmarks.md lists what each benchmark judges, and no other promise', () => {
  const sections = readFileSync('docs/benchmarks.md', 'utf8').split('\n## ').slice(1);
  for (const [name, promises] of Object.entries(PROMISES)) {
    const section = sections.find((one) => one.includes(`npm run bench:${name}\``)) ?? '';
    const listed = [...section.matchAll(/^\| (.*) \| ([≤≥].*?) \| /gm)].map(([, what, bound]) => `${what}: ${bound}`);
    expect(listed).toEqual(Object.values(promises).map((promised) => `${promised.what}: ${boundOf(promised)}`));
  }
});
