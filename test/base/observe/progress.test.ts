import stringWidth from 'string-width';
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
  it('redraws one line in place with bar, figures, rate, ETA and requests', () => {
    const { written, logs, progress } = given(true, { columns: 120 });
    progress.start('reports', 2000);
    pass(10_000);
    progress.advance(500, { requestsSpent: 520, requestsLeft: 1500 });
    progress.note('example.com');
    pass(100);
    progress.advance(0);
    expect(written[1]).toBe(
      `${CLEAR}reports █████░░░░░░░░░░░░░░░  500/2,000  50/s  ETA 30s  520 requests  1,500 requests left`,
    );
    expect(written[2]).toMatch(/left {2}example\.com$/);
    expect(written.join('')).not.toContain('\n');
    expect(logs).toEqual([]);
  });

  it('makes room for log lines', () => {
    const { written, progress } = given(true);
    progress.logStream.write('before\n');
    progress.start('walk', 10);
    progress.logStream.write('hello\n');
    expect(written.map((text) => text.slice(0, 12))).toEqual([
      'before\n',
      `${CLEAR}walk ░░`,
      CLEAR,
      'hello\n',
      `${CLEAR}walk ░░`,
    ]);
  });

  it.each([10, 24, 40])('fits %d columns, wide characters and colours included', (columns) => {
    const { written, progress } = given(true, { columns, color: true });
    progress.start('日本語のウェブサイト', 100);
    const line = written[0]?.slice(CLEAR.length) ?? '';
    expect(stringWidth(line)).toBeLessThan(columns);
    expect(stringWidth(line)).toBeGreaterThanOrEqual(columns - 3);
    expect(line.endsWith('…')).toBe(true);
    const styles = (code: string) => line.split(`\x1b[${code}m`).length;
    expect([styles('1'), styles('36')]).toEqual([styles('22'), styles('39')]);
  });

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
