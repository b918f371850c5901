import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { endFile } from './given/folder.js';

/** The same cases in every run, so that a change that fails is the change's fault. Another number tries others. */
fc.configureGlobal({ seed: Number(process.env['INDEXHOUSE_TEST_SEED'] ?? 1) });

const before = processorSeconds();

afterAll(async () => {
  await endFile();
  const file = process.env['INDEXHOUSE_TEST_TIMES'];
  if (!file) return;
  const path = relative(process.cwd(), expect.getState().testPath ?? '');
  appendFileSync(file, `${(processorSeconds() - before).toFixed(2)} ${path}\n`);
});

/** Processor seconds of this worker and, on Linux, of the processes that it started and that have ended. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + secondsOfChildren();
}

function secondsOfChildren(): number {
  if (!existsSync('/proc/self/stat')) return 0;
  const [, , , , , , , , , , , , , userTicks = 0, systemTicks = 0] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /u, '')
    .split(' ')
    .map(Number);
  return (userTicks + systemTicks) / 100;
}
