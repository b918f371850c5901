import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ping, send } from '../../../src/app/notify/channels.js';
import { newMessage } from '../../../src/app/notify/message.js';
import { noticeOf } from '../../../src/app/notify/notice.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { EARLY_HINTS, startRawServer, trickle } from '../../given/raw-server.js';
import { startMailServer, startReceiver } from './given.js';

const HOSTILE = [
  '<!channel> <@U123> <https://evil.example|click> @here & `',
  '``` *bold* [click](javascript:alert(1)) <at>all</at>',
  'a\r\nBcc: victim@example.com\r\n\r\n.\r\nQUIT',
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  'https://shop.example/\u202egpj.exe\u0007',
];
/** Controls but line breaks, marks that turn the direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const INVISIBLE = /[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/;

const hostile = noticeOf({ website_id: 'w', website_name: `${HOSTILE[2]}` }, 'run', {
  kind: 'failed',
  what: HOSTILE.join(' '),
  count: 1,
  since: null,
  directory: `/${HOSTILE[0]}/`,
  state: `${HOSTILE[1]}`,
  examples: HOSTILE,
  command: 'indexhouse status',
});
const rows = [
  { snapshot_date: '2025-03-01', pages: 40, indexed: 36 },
  { snapshot_date: '2025-03-02', pages: 40, indexed: 23 },
];
const message = newMessage([hostile], [{ website: `${HOSTILE[3]}`, rows }], 0);

test('Slack gets one block of code, without mentions, links and markup', async () => {
  const receiver = await startReceiver();
  await send({ type: 'slack', url: receiver.url }, message);
  const { text } = JSON.parse(receiver.got[0]?.body ?? '');
  const [title, block, end] = text.split('```');
  expect(title).toBe('indexhouse: a run failed\n');
  expect(end).toBe('');
  expect(block).toContain('&lt;!channel&gt;');
  expect(text).not.toMatch(/[<>]/);
  expect(text).not.toMatch(INVISIBLE);
});

test('Teams gets a card whose texts know no markup', async () => {
  const receiver = await startReceiver();
  await send({ type: 'teams', url: receiver.url }, message);
  const { type, attachments } = JSON.parse(receiver.got[0]?.body ?? '');
  expect([type, attachments[0].contentType]).toEqual(['message', 'application/vnd.microsoft.card.adaptive']);
  const { body, msteams } = attachments[0].content;
  expect(msteams).toBeUndefined();
  for (const { type, inlines } of body) {
    expect(type).toBe('RichTextBlock');
    for (const one of inlines)
      expect(one).toMatchObject({ type: 'TextRun', text: expect.not.stringMatching(INVISIBLE) });
  }
});

test('a mail has text, HTML and the trend as a table, and only the headers that are ours', async () => {
  const server = await startMailServer();
  const to = ['you@example.com', 'me@example.com'];
  await send({ type: 'email', smtp: server.url, from: 'indexhouse@example.com', to }, message);
  const [mail = ''] = server.mails;
  const [head = ''] = mail.split('\r\n\r\n');
  const headers = head.split(/\r\n(?!\s)/).map((line) => line.split(':')[0]?.toLowerCase());
  const own = ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'];
  expect(headers.sort()).toEqual(own);
  const decoded = mail
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  expect(decoded).toContain('Content-Type: text/plain');
  expect(decoded).toMatch(/<td [^>]*>2025-03-02<\/td><td [^>]*>40<\/td><td [^>]*>23<\/td>/);
  const page = decoded.slice(decoded.indexOf('<!doctype html>'));
  expect(page).toContain('&lt;script&gt;');
  expect(page).not.toMatch(/<script|<img|<svg|href="javascript/);
});

test('a command gets JSON on its stdin, and one that hangs or fails is an error', async () => {
  const file = join(temporaryFolder(), 'got.json');
  await send({ type: 'command', run: ['/bin/sh', '-c', 'cat > "$0"', file] }, message);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1, notices: [{ id: 'failed:w:run' }] });
  await expect(send({ type: 'command', run: ['/bin/sh', '-c', 'exit 7'] }, message)).rejects.toThrow('exited with 7');
  await expect(send({ type: 'command', run: ['/bin/sleep', '60'] }, message, 50)).rejects.toThrow('stopped by SIGKILL');
  await expect(send({ type: 'command', run: ['/no/such/program'] }, message)).rejects.toThrow('ENOENT');
});

test('a ping keeps the query of its address, and redirects are not followed', async () => {
  const receiver = await startReceiver();
  const address = { type: 'ping', url: `${receiver.url}/ping/uuid/?rid=1` } as const;
  for (const event of ['start', 'fail', 'success'] as const) await ping(address, event);
  const paths = ['/ping/uuid/start?rid=1', '/ping/uuid/fail?rid=1', '/ping/uuid/?rid=1'];
  expect(receiver.take().map(({ path }) => path)).toEqual(paths);
  receiver.status = 302;
  await expect(ping(address, 'success')).rejects.toThrow('it answered 302');
});

test('a channel that hangs is given up', async () => {
  const { url } = await startRawServer(() => undefined);
  await expect(send({ type: 'slack', url }, message, 100)).rejects.toThrow('timeout');
  const hinting = await startRawServer((_, socket) => trickle(socket, EARLY_HINTS));
  await expect(send({ type: 'slack', url: hinting.url }, message, 100)).rejects.toThrow('timeout');
  const smtp = url.replace('http', 'smtp');
  const mail = { type: 'email' as const, smtp, from: 'a@example.com', to: ['b@example.com'] };
  await expect(send(mail, message, 100)).rejects.toThrow();
});

test('a message of many notices is cut at a line, and says how many there are', async () => {
  const notices = Array.from({ length: 100 }, (_, at) => ({ ...hostile, id: `failed:w:${at}` }));
  const many = newMessage(notices, [], 0);
  const receiver = await startReceiver();
  await send({ type: 'teams', url: receiver.url }, many);
  await send({ type: 'slack', url: receiver.url }, many);
  const [teams, slack] = receiver.got.map(({ body }) => body);
  expect(Buffer.byteLength(teams ?? '')).toBeLessThan(28_000);
  for (const body of [teams, slack]) expect(body).toContain(' more notices left out (');
  expect(JSON.parse(slack ?? '').text.length).toBeLessThan(40_000);
});

test('notify --test sends one of each kind to every channel, and says what happened', async () => {
  const receiver = await startReceiver();
  const folder = temporaryFolder();
  const channels = [
    { type: 'slack', url: '$'.concat('{SLACK_URL}'), name: 'seo' },
    { type: 'ping', url: `${receiver.url}/ping` },
    { type: 'teams', url: 'http://127.0.0.1:9/gone' },
  ];
  const config = writeConfig(folder, { sections: { notify: { channels } } });
  const env = { SLACK_URL: `${receiver.url}/slack` };
  const { code, stdout } = await run(['notify', '--test', '--config', config], { env });
  expect(stdout.split('\n')).toEqual([
    'seo (slack): accepted 21 notices',
    'ping: accepted start, fail and success',
    expect.stringMatching(/^! teams: did not accept 21 notices: .*ECONNREFUSED/),
    '',
  ]);
  expect(code).toBe(1);
  expect(receiver.got.map(({ path }) => path).sort()).toEqual(['/ping', '/ping/fail', '/ping/start', '/slack']);
  const unset = await run(['notify', '--config', config]);
  expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('SLACK_URL')]);
});
