import { MINUTE_MS } from '../time.js';
import { count, counted, duration } from './format.js';
import { cellsOf, safe } from './terminal.js';

const REDRAW_MS = 100;
const LOG_EVERY_MS = 30_000;
/** The rate is that of the last minute, so that it follows the service's pace. */
const RATE_WINDOW_MS = MINUTE_MS;
const SAMPLE_MS = 1000;
const BAR_CELLS = 20;
const DEFAULT_COLUMNS = 80;
const CLEAR_LINE = '\r\x1b[2K';

export interface ProgressOptions {
  /** `columns`: the width of the terminal in cells. */
  stream: { write(text: string): unknown; columns?: number | undefined };
  isTerminal: boolean;
  color: boolean;
  /** Receives lines instead of the drawing if there is no terminal. */
  log: (line: string) => void;
}

/** What a step knows about requests; missing fields stay as they were. */
export interface ProgressExtra {
  requestsSpent?: number;
  requestsLeft?: number;
  /** Done by an earlier process, so that it does not count for the rate. */
  isEarlier?: boolean;
}

export interface Progress {
  /** Starts a piece of work, and finishes the one before. A total of null is unknown. */
  start(label: string, total: number | null): void;
  advance(n: number, extra?: ProgressExtra): void;
  setTotal(total: number | null): void;
  /** Text after the figures, such as the website; empty removes it. */
  note(text: string): void;
  /** Removes the line from the terminal; elsewhere logs the outcome. */
  finish(): void;
  /** A stream for log lines, which are written above the drawing. */
  logStream: { write(text: string): void; isTTY: boolean };
}

interface Work {
  label: string;
  total: number | null;
  done: number;
  note: string;
  extra: Omit<ProgressExtra, 'isEarlier'>;
  startedAt: number;
  samples: { at: number; done: number }[];
}

/** Shows long work: on a terminal one line, redrawn in place at most 10 times a second; elsewhere a log line now and then. */
export function createProgress(options: ProgressOptions): Progress {
  const { stream, isTerminal, log } = options;
  let work: Work | null = null;
  let drawn = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const erase = () => {
    if (drawn) stream.write(CLEAR_LINE);
    drawn = false;
  };
  const draw = () => {
    if (!work) return;
    drawnAt = Date.now();
    const cells = (stream.columns || DEFAULT_COLUMNS) - 1;
    stream.write(CLEAR_LINE + lineOf(work, drawnAt, options.color, cells));
    drawn = true;
  };
  const changed = () => {
    if (isTerminal && work && Date.now() - drawnAt >= REDRAW_MS) draw();
  };
  const report = () => {
    if (work) log(plainLine(work, Date.now()));
  };
  const finish = () => {
    clearInterval(timer);
    if (work && !isTerminal)
      log(`${plainLine(work, Date.now())}, finished after ${duration(Date.now() - work.startedAt)}`);
    erase();
    work = null;
  };
  const writeAbove = (text: string) => {
    const shown = drawn;
    erase();
    stream.write(text);
    if (shown) draw();
  };

  return {
    start(label, total) {
      if (work) finish();
      const at = Date.now();
      work = { label: safe(label), total, done: 0, note: '', extra: {}, startedAt: at, samples: [{ at, done: 0 }] };
      timer = setInterval(isTerminal ? changed : report, isTerminal ? SAMPLE_MS : LOG_EVERY_MS).unref();
      changed();
    },
    advance(n, { isEarlier = false, ...extra } = {}) {
      if (!work) return;
      work.done += n;
      if (isEarlier) for (const each of work.samples) each.done += n;
      Object.assign(work.extra, extra);
      sample(work, Date.now());
      changed();
    },
    setTotal(total) {
      if (work) work.total = total;
      changed();
    },
    note(text) {
      if (work) work.note = safe(text);
      changed();
    },
    finish,
    logStream: { write: writeAbove, isTTY: isTerminal },
  };
}

function sample(work: Work, at: number): void {
  const last = work.samples.at(-1);
  if (last && at - last.at < SAMPLE_MS) return;
  work.samples.push({ at, done: work.done });
  while (work.samples.length > 2 && at - (work.samples[1]?.at ?? at) >= RATE_WINDOW_MS) work.samples.shift();
}

/** Pieces per second, or null while too little time has passed. */
function rateOf(work: Work, at: number): number | null {
  const first = work.samples[0];
  const elapsed = first ? at - first.at : 0;
  return first && elapsed >= SAMPLE_MS ? ((work.done - first.done) / elapsed) * 1000 : null;
}

/** Cut to a number of cells, then coloured. */
function lineOf(work: Work, at: number, color: boolean, cells: number): string {
  const bar = work.total === null ? [] : [barOf(work.total === 0 ? 1 : work.done / work.total)];
  const line = truncate([[work.label, ...bar].join(' '), ...figures(work, at)].join('  '), cells);
  if (!color || !line.startsWith(work.label)) return line;
  const rest = line.slice(work.label.length);
  return `\x1b[1m${work.label}\x1b[22m${rest.replace(/^ ([█░]+)/, ' \x1b[36m$1\x1b[39m')}`;
}

function barOf(share: number): string {
  const full = Math.round(Math.min(Math.max(share, 0), 1) * BAR_CELLS);
  return '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
}

function plainLine(work: Work, at: number): string {
  return `${work.label}: ${figures(work, at).join(', ')}`;
}

function figures(work: Work, at: number): string[] {
  const { total, done, extra, note } = work;
  const rate = rateOf(work, at);
  const left = total === null || !rate || rate < 0 ? null : (Math.max(total - done, 0) / rate) * 1000;
  return [
    total === null ? count(done) : `${count(done)}/${count(total)}`,
    rate === null ? '' : `${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))}/s`,
    left === null || left === 0 ? '' : `ETA ${duration(left)}`,
    extra.requestsSpent ? counted(extra.requestsSpent, 'request') : '',
    extra.requestsLeft ? `${counted(extra.requestsLeft, 'request')} left` : '',
    note,
  ].filter((text) => text !== '');
}

function truncate(line: string, cells: number): string {
  if (cellsOf(line) <= cells) return line;
  let cut = '';
  for (const character of line) {
    if (cellsOf(cut + character) > cells - 1) break;
    cut += character;
  }
  return `${cut}…`;
}
