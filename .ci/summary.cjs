// node .ci/summary.cjs <job or nothing> <jobs> <results of the test runner>…
// Prints the tests that were skipped, with the job that runs them, and the sum. Exits with 1 if a test failed, if none
// passed, if a job skipped one of its tests, or if no job runs one that was skipped.
const { readFileSync } = require('node:fs');
const { relative } = require('node:path');

const [job, jobs, ...results] = process.argv.slice(2);
const rows = jobs.split('\n').map((line) => line.split(' '));
const sum = { passed: 0, failed: 0 };
const passed = new Set();
const say = (line) => process.stdout.write(`${line}\n`);
/** Files by the tests that no run has passed. */
const skipped = new Map();

for (const result of results) {
  for (const { name, status, assertionResults } of resultsIn(result)) {
    const file = relative('', name);
    const before = sum.failed;
    for (const { status, fullName } of assertionResults) {
      if (status in sum) sum[status]++;
      if (status === 'passed') passed.add(`${file}: ${fullName}`);
      else if (status !== 'failed') skipped.set(`${file}: ${fullName}`, file);
    }
    // A file whose tests could not even begin.
    if (status === 'failed' && sum.failed === before) sum.failed++;
  }
}
// Not what another run did.
for (const test of passed) skipped.delete(test);

const counts = new Map();
for (const file of skipped.values()) counts.set(file, (counts.get(file) ?? 0) + 1);
say('');
for (const [file, count] of [...counts].sort()) {
  const [runs = null] = rows.find(([, place]) => file.startsWith(place)) ?? [];
  if (job || !runs) sum.failed += count;
  say(`skipped: ${count} of ${file}, ${runs ? `run by the job ${runs}` : 'which no job runs'}`);
}
say(`${sum.passed} passed, ${sum.failed} failed`);
process.exitCode = sum.failed === 0 && sum.passed > 0 ? 0 : 1;

function resultsIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testResults;
  } catch {
    say(`the test runner left no result in ${file}`);
    sum.failed++;
    return [];
  }
}
