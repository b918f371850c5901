import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { secretsOf } from '../../src/config/websites.js';
import { failure, load, MINIMAL, tempFolder } from './given.js';

const SLACK = 'https://hooks.slack.com/services/T0/B0/an-unguessable-path';

/** A configuration with these lines under `notify`. */
function withNotify(...lines: string[]): string {
  return `${MINIMAL}notify:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

describe('notify', () => {
  it('takes each type of channel, addresses and passwords from the environment', async () => {
    const text = withNotify(
      'channels:',
      `  - { type: slack, name: seo, url: "\${SLACK}" }`,
      '  - { type: teams, url: "https://example.webhook.office.com/x" }',
      `  - { type: webhook, url: "http://localhost:1/x", secret: "\${SECRET}" }`,
      `  - { type: email, smtp: "smtps://mail.example.com", user: me, password: "\${PASSWORD}", from: a@b.example, to: [c@d.example] }`,
      '  - { type: command, run: [/bin/cat] }',
      '  - { type: ping, url: "https://hc-ping.com/uuid" }',
    );
    const config = await load(text, { SLACK, SECRET: 'shh-1', PASSWORD: 'shh 2' });
    expect(config.notify.channels.map(({ type }) => type)).toEqual([
      'slack',
      'teams',
      'webhook',
      'email',
      'command',
      'ping',
    ]);
    expect(secretsOf(config)).toEqual(
      expect.arrayContaining(['abc', SLACK, '/services/T0/B0/an-unguessable-path', 'shh-1', 'shh 2']),
    );
    expect((await failure(text)).message).toContain('SLACK');
  });

  it('is not read by what sends nothing', async () => {
    const cwd = await tempFolder();
    await writeFile(
      join(cwd, 'indexhouse.yaml'),
      withNotify(`channels: [{ type: slack, url: "\${SLACK}" }]`, 'drift: false'),
    );
    const { notify } = await loadConfig({ env: {}, cwd, withoutTokens: true });
    expect(notify).toMatchObject({ channels: [], drift: false });
  });

  it('takes a drop as a share, a number or false', async () => {
    const { notify } = await load(withNotify('indexed_drop: 2.5%', 'directory_drop: 40', 'robots_blocked: false'));
    expect(notify).toMatchObject({
      indexed_drop: { share: 0.025 },
      directory_drop: { pages: 40 },
      robots_blocked: false,
    });
    const fromEnvironment = await load(MINIMAL, {
      INDEXHOUSE_NOTIFY_INDEXED_DROP: 'false',
      INDEXHOUSE_NOTIFY_DIRECTORY_DROP: '7',
    });
    expect(fromEnvironment.notify).toMatchObject({ indexed_drop: false, directory_drop: { pages: 7 } });
  });

  test.each([
    ['indexed_drop: 5', 'percent: 5', 'notify.percent is not a known key'],
    ['indexed_drop: many', '', 'notify.indexed_drop is not a drop'],
    ['indexed_drop: 120%', '', 'notify.indexed_drop is not a drop'],
    ['watch: /checkout/*', '', 'notify.watch is not a list'],
    ['channels: [{ type: pigeon }]', '', 'notify.channels[0].type is not the type of a channel'],
    ['channels: [{ url: "https://x.example" }]', '', 'notify.channels[0].type is not the type of a channel'],
    ['channels: [{ type: slack }]', '', 'notify.channels[0].url is missing'],
    [
      'channels: [{ type: slack, url: "http://hooks.example/a-path" }]',
      '',
      'notify.channels[0].url is not an https address',
    ],
    ['channels: [{ type: slack, urls: "https://x.example" }]', '', 'Did you mean `url`?'],
    [
      'channels: [{ type: email, smtp: "smtp://me:pass@mail.example", from: a@b.example, to: [a@b.example] }]',
      '',
      'notify.channels[0].smtp is not the address of a mail server',
    ],
    [
      'channels: [{ type: email, smtp: "smtp://mail.example", from: "a@b.example\\r\\nBcc: x@y.example", to: [a@b.example] }]',
      '',
      'notify.channels[0].from',
    ],
    ['channels: [{ type: command, run: "cat" }]', '', 'notify.channels[0].run is not a list'],
    [
      'channels: [{ type: command, run: [a], name: x }, { type: command, run: [b], name: x }]',
      '',
      'notify.channels has a name twice',
    ],
  ])('refuses %s %s, and says why without repeating it', async (line, more, message) => {
    const error = await failure(withNotify(line, ...(more === '' ? [] : [more])));
    expect(error.message).toContain(message);
    expect(error.message).not.toMatch(/pigeon|a-path|pass@|Bcc/);
  });
});
