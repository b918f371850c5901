import { describe, expect, it } from 'vitest';
import { createLogger, type LoggerOptions } from '../../../src/base/observe/log.js';

const SECRET = 'k9+/"Q=z\\%w';

function logged(options: LoggerOptions) {
  const lines: string[] = [];
  const write = (text: string) => lines.push(text);
  return { lines, logger: createLogger({ ...options, destination: { write } }) };
}

function withSecrets(pretty: boolean, secrets = [SECRET]): string {
  const { lines, logger } = logged({ pretty, color: false, secrets, level: 'debug' });
  const error = new Error(`sent ${SECRET}`, { cause: new Error(`because ${SECRET}`) });
  const lower = encodeURIComponent(SECRET).replaceAll(/%../g, (code) => code.toLowerCase());
  const url = `https://x.example/?t=${encodeURIComponent(SECRET)}&u=${lower}&v=${encodeURI(SECRET)}`;
  logger.info({ token: SECRET, deep: [{ [SECRET]: url }] }, `Bearer ${SECRET}`);
  logger.error(error, 'failed');
  logger.error({ error, body: JSON.stringify({ t: SECRET }), twice: JSON.stringify(JSON.stringify(SECRET)) });
  logger.info(`Basic ${Buffer.from(SECRET).toString('base64')}`);
  logger.child({ key: SECRET }).warn('child');
  return lines.join('');
}

describe('createLogger', () => {
  it.each([true, false])('masks secrets in every form and place (pretty: %s)', (pretty) => {
    const text = withSecrets(pretty);
    expect(text.match(/\[secret\]/g)?.length).toBeGreaterThanOrEqual(13);
    expect(text).not.toMatch(/k9|Q=z|%25w|azkr/i);
    expect(withSecrets(pretty, [])).toMatch(/k9/);
  });

  it('masks a secret that is the beginning of another, and one that reads as a number', () => {
    const { lines, logger } = logged({ pretty: false, secrets: ['abc1', 'abc1def', '12345', ''] });
    logger.info({ n: 12345 }, 'abc1def abc1');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ n: '[secret]', msg: '[secret] [secret]' });
  });

  it('masks a short secret where it is whole, and not a word that is the same', () => {
    const { lines, logger } = logged({ secrets: ['wrong', 's3cr3t'] });
    const words = 'the token is missing, wrong or expired; wrongly s3cr3ts';
    const values = ['wrong', 'Bearer wrong', '"wrong" ?t=wrong& key: wrong /wrong/', '%22wrong%22 =%77rong s3cr3t.'];
    logger.info({ values }, words);
    expect(JSON.parse(lines[0] ?? '').msg).toBe(words);
    expect(lines[0]?.replace(words, '')).not.toMatch(/rong|s3cr3t/);
  });

  it.each(['warn', 'debug'] as const)('at %s says an error in a sentence, or shows its stack', (level) => {
    const { lines, logger } = logged({ level });
    logger.error({ err: new Error('the disk is full') }, 'no snapshot');
    expect(lines[0]).toContain('the disk is full');
    expect(lines[0]?.includes('stack')).toBe(level === 'debug');
  });

  it.each([true, false])('lets no control characters through (pretty: %s)', (pretty) => {
    const { lines, logger } = logged({ pretty, color: false });
    const text = '\x1b[2J\u009b\u202e\rx\ninjected';
    logger.info({ [text]: text, err: new Error(text) }, text);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(lines.join('')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
    if (pretty) expect(lines[0]?.split('\n')[0]).toContain('\\x1b[2J\\x9b\\u202e\\rx\\ninjected');
    else expect(JSON.parse(lines[0] ?? '').msg).toBe(text);
  });
});
