// node .ci/summary.cjs <job or nothing> <jobs> <folder of results>
// Prints the processor time of the tests by folder, the tests that were skipped, with the job that runs them, and the
// counts. Exits with 1 if a test failed, if none passed, if a job skipped one of its tests, if no job runs one that was
// skipped, or if `npm test` takes more processor time than it promises.
const { readFileSync } = require('node:fs');
const { join, relative } = require('node:path');

/** Of `npm test` on any machine, without the build. The wall time depends on what else the machine does. */
const PROMISED_SECONDS = 150;

const [job, jobs, results] = process.argv.slice(2);
const rows = jobs.split('\n').map((line) => line.split(' '));
const sum = { passed: 0, failed: 0 };
const say = (line) => process.stdout.write(`${line}\n`);
const skipped = new Map();

for (const { name, status, assertionResults } of testResults()) {
  const file = relative('', name);
  const before = sum.failed;
  for (const { status } of assertionResults) {
    if (status in sum) sum[status]++;
    else skipped.set(file, (skipped.get(file) ?? 0) + 1);
  }
  // A file whose tests could not even begin.
  if (status === 'failed' && sum.failed === before) sum.failed++;
}

say('');
if (!job) checkTimes();
for (const [file, count] of [...skipped].sort()) {
  const [runs = null] = rows.find(([, place]) => file.startsWith(place)) ?? [];
  if (job || !runs) sum.failed += count;
  say(`skipped: ${count} of ${file}, ${runs ? `run by the job ${runs}` : 'which no job runs'}`);
}
say(`${sum.passed} passed, ${sum.failed} failed`);
process.exitCode ||= sum.failed === 0 && sum.passed > 0 ? 0 : 1;

/** Processor seconds by folder, and whether those of `npm test` keep the promise. */
function checkTimes() {
  const folders = new Map();
  const all = { 'npm test': 0, 'more in test:full': 0 };
  for (const line of readFileSync(join(results, 'times'), 'utf8').trim().split('\n')) {
    const [seconds, file] = [Number(line.split(' ')[0]), line.slice(line.indexOf(' ') + 1)];
    const kind = file.endsWith('.full.test.ts') ? 'more in test:full' : 'npm test';
    const folder = file.split('/').slice(0, 2).join('/');
    const times = folders.get(folder) ?? { 'npm test': 0, 'more in test:full': 0 };
    for (const one of [times, all]) one[kind] += seconds;
    folders.set(folder, times);
  }
  say('processor seconds     npm test   more in test:full');
  for (const [folder, times] of [...[...folders].sort(), ['all', all]]) {
    say(
      `${folder.padEnd(20)}${times['npm test'].toFixed(1).padStart(10)}${times['more in test:full'].toFixed(1).padStart(20)}`,
    );
  }
  if (all['npm test'] <= PROMISED_SECONDS) return;
  say(`npm test takes more than the ${PROMISED_SECONDS} processor seconds that CONTRIBUTING.md promises`);
  process.exitCode = 1;
}

function testResults() {
  try {
    return JSON.parse(readFileSync(join(results, 'tests.json'), 'utf8')).testResults;
  } catch {
    say('the test runner left no result');
    sum.failed++;
    return [];
  }
}
