import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.js';
/** Milliseconds in the two largest units that matter: `850ms`, `4.2s`, `3m 5s`, `2h 10m`, `3d 4h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '∞';
  if (ms < 0) return `-${duration(-ms)}`;
  if (Math.round(ms) < SECOND_MS) return `${Math.round(ms)}ms`;
  if (ms < 9950) return `${(ms / SECOND_MS).toFixed(1)}s`;
  const seconds = Math.round(ms / SECOND_MS) * SECOND_MS;
  if (seconds < MINUTE_MS) return `${seconds / SECOND_MS}s`;
  if (seconds < HOUR_MS) return pair(seconds, MINUTE_MS, 'm', SECOND_MS, 's');
  const minutes = Math.round(ms / MINUTE_MS) * MINUTE_MS;
  if (minutes < DAY_MS) return pair(minutes, HOUR_MS, 'h', MINUTE_MS, 'm');
  return pair(Math.round(ms / HOUR_MS) * HOUR_MS, DAY_MS, 'd', HOUR_MS, 'h');
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)}${largeName}${rest === 0 ? '' : ` ${rest}${smallName}`}`;
}

/** 1234567 → `1,234,567`. */
export function count(n: number | bigint): string {
  return n.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

/** Bytes in the largest unit that fits: `812 kB`, `45 MB`, `1.2 GB`. */
export function size(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${Math.round(bytes / 1e6)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
}
