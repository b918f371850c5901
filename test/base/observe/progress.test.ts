import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgress } from '../../../src/base/observe/progress.js';

const CLEAR = '\r\x1b[2K';

/** So long passes, without a tick. */
const pass = (ms: number) => void vi.setSystemTime(Date.now() + ms);

function given(isTerminal: boolean, { color = false, columns = 100 } = {}) {
  const written: string[] = [];
  const logs: string[] = [];
  const stream = { write: (text: string) => written.push(text), columns };
  const log = (line: string) => logs.push(line);
  return { written, logs, stream, progress: createProgress({ stream, isTerminal, color, log }) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('on a terminal', () => {
  it('has no colours unless asked to, and shows foreign text harmlessly', () => {
    const { written, progress } = given(true);
    progress.start('a\x1b[31m', 1);
    pass(200);
    progress.note('b\nc');
    expect(written.join('').replaceAll(CLEAR, '')).not.toContain('\x1b');
    expect(written[1]).toContain('b\\nc');
  });
});

describe('elsewhere', () => {
  it('logs a line every 30 s and at the end, and draws nothing', () => {
    const { written, logs, progress } = given(false);
    progress.start('reports', 100);
    progress.advance(1);
    vi.advanceTimersByTime(29_999);
    progress.advance(29);
    vi.advanceTimersByTime(1);
    pass(35_000);
    progress.advance(70);
    progress.finish();
    expect(logs).toEqual([
      'reports: 30/100, 1.0/s, ETA 1m 10s',
      expect.stringMatching(/^reports: 100\/100, .*\/s, finished after 1m 5s$/),
    ]);
    expect(written).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
