/** `NODE_OPTIONS` for a process whose clock stands so many seconds before the next full minute when it starts. */
export function clockBeforeFullMinute(seconds: number): Record<string, string> {
  const shift = 60_000 - (Date.now() % 60_000) - seconds * 1000;
  const code = `
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { super(...(given.length > 0 ? given : [Real.now() + ${shift}])); }
      static now() { return Real.now() + ${shift}; }
    };`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` };
}
