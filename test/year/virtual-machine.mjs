/**
 * Preloaded into a process with `node --import`, this gives it the clock and the timers of a machine on which waiting takes
 * no time: whenever the process has nothing to do, the clock jumps to its next timer. The program itself is unchanged.
 *
 * - The clock is the real one plus an offset. Each jump is a line of a file, `<real time> <offset>`: the test reads what time
 *   it is there, and the next process goes on from it.
 * - Modification times of files are translated, too.
 * - The process rests when the clock reaches a moment that the test has set, and says so; then the test sends the next one,
 *   or how long the machine sleeps: the clock goes on meanwhile, and timers do not.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';

const require = createRequire(import.meta.url);
const clockFile = new URL(import.meta.url).searchParams.get('clock');
const RealDate = Date;
const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, now: RealDate.now };
/** Turns of the event loop without anything to do, before the clock jumps. */
const QUIET_TURNS = 3;
/** What may be active in a process that only waits. */
const PASSIVE = new Set(['Timeout', 'Immediate']);

// The clock.
const steps = readFileSync(clockFile, 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(' ').map(Number));
let offset = steps.at(-1)[1];
/** By how much the clock is ahead of what the timers have lived through. */
let slept = 0;

function setOffset(next) {
  offset = Math.ceil(next);
  const step = [real.now(), offset];
  steps.push(step);
  appendFileSync(clockFile, `${step.join(' ')}\n`);
}

const now = () => real.now() + offset;
const timersNow = () => now() - slept;

globalThis.Date = class VirtualDate extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [now()] : args));
  }
  static now() {
    return now();
  }
  static [Symbol.hasInstance](value) {
    return value instanceof RealDate;
  }
};

// Modification times.
function virtual(realMs) {
  let [low, high] = [0, steps.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (steps[middle][0] <= realMs) low = middle;
    else high = middle - 1;
  }
  return realMs + steps[low][1];
}

const promises = require('node:fs/promises');
const realStat = promises.stat;
promises.stat = async (...args) => {
  const stats = await realStat(...args);
  if (typeof stats.mtimeMs === 'number') {
    stats.mtimeMs = virtual(stats.mtimeMs);
    stats.mtime = new RealDate(stats.mtimeMs);
  }
  return stats;
};

// Timers.
const timers = new Set();
let isPumping = false;

class Timer {
  constructor(work, args, ms, repeats) {
    Object.assign(this, { work, args, ms: Math.max(1, Number(ms) || 1), repeats, isRef: true });
    this.refresh();
  }
  refresh() {
    this.at = timersNow() + this.ms;
    timers.add(this);
    pumpSoon();
    return this;
  }
  ring() {
    timers.delete(this);
    if (this.repeats) this.refresh();
    this.work(...this.args);
  }
  ref() {
    this.isRef = true;
    pumpSoon();
    return this;
  }
  unref() {
    this.isRef = false;
    return this;
  }
  hasRef() {
    return this.isRef;
  }
  close() {
    timers.delete(this);
  }
}

const clear = (timer) => {
  if (timer instanceof Timer) timer.close();
  else real.clearTimeout(timer);
};
const fake = {
  setTimeout: (work, ms, ...args) => new Timer(work, args, ms, false),
  setInterval: (work, ms, ...args) => new Timer(work, args, ms, true),
  clearTimeout: clear,
  clearInterval: clear,
};
Object.assign(globalThis, fake);
Object.assign(require('node:timers'), fake);
require('node:timers/promises').setTimeout = (ms, value, { signal, ref = true } = {}) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      timer.close();
      reject(signal.reason);
    };
    const timer = new Timer(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve(value);
      },
      [],
      ms,
      false,
    );
    if (!ref) timer.unref();
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
syncBuiltinESMExports();

// DuckDB works on threads of its own, which Node does not count as something to do.
let questions = 0;
const native = require('@duckdb/node-bindings');
const counted = Object.create(native);
for (const name of Object.getOwnPropertyNames(native)) {
  const call = native[name];
  if (typeof call !== 'function') continue;
  const value = (...args) => {
    const answer = call(...args);
    if (!(answer instanceof Promise)) return answer;
    questions++;
    const end = () => void questions--;
    answer.then(end, end);
    return answer;
  };
  Object.defineProperty(counted, name, { value, enumerable: true });
}
// Its exports cannot be replaced one by one.
require.cache[require.resolve('@duckdb/node-bindings')].exports = counted;

function isBusy() {
  return questions > 0 || process.getActiveResourcesInfo().some((name) => !PASSIVE.has(name));
}

// Jumps.
let until = Number.NEGATIVE_INFINITY;
let quiet = 0;
let saidResting = false;

function pumpSoon() {
  if (isPumping) return;
  isPumping = true;
  real.setImmediate(pump);
}

function pump() {
  isPumping = false;
  const hadDue = ringDue();
  const next = nextAt();
  if (next === Number.POSITIVE_INFINITY) return;
  isPumping = true;
  if (hadDue) {
    quiet = 0;
    real.setImmediate(pump);
  } else if (isBusy()) {
    quiet = 0;
    real.setTimeout(pump, 1);
  } else if (++quiet < QUIET_TURNS) real.setImmediate(pump);
  else if (now() >= until) rest();
  else {
    quiet = 0;
    setOffset(offset + Math.max(0, Math.min(until, next + slept) - now()));
    real.setImmediate(pump);
  }
}

function ringDue() {
  const time = timersNow();
  const due = [];
  for (const timer of timers) if (timer.at <= time) due.push(timer);
  if (due.length === 0) return false;
  due.sort((one, other) => one.at - other.at);
  for (const timer of due) if (timers.has(timer)) timer.ring();
  return true;
}

/** When the next timer rings that keeps the process alive; Infinity if there is none. */
function nextAt() {
  let next = Number.POSITIVE_INFINITY;
  for (const { at, isRef } of timers) if (isRef && at < next) next = at;
  return next;
}

function rest() {
  if (!saidResting) process.send({ resting: now() });
  saidResting = true;
  real.setTimeout(pump, 1);
}

process.on('message', (message) => {
  if (message.until !== undefined) {
    until = message.until;
    saidResting = false;
    quiet = 0;
  }
  if (message.sleep !== undefined) {
    slept += Math.round(message.sleep);
    setOffset(offset + Math.round(message.sleep));
  }
  if (message.heap) {
    globalThis.gc();
    process.send({ heap: process.memoryUsage().heapUsed });
  }
});
process.channel.unref();
