import { expect, test } from 'vitest';
import { AUTHORITY, CERTIFICATE } from '../../given/certificate.js';
import { runProcess } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { startMailServer } from './given.js';

test('mails and passwords go over TLS, to a server whose authority is trusted', async () => {
  const servers = [await startMailServer({ ...CERTIFICATE, secure: true }), await startMailServer(CERTIFICATE)];
  const channels = servers.map(({ url }, at) => ({
    ...{ type: 'email', name: `mail ${at}`, smtp: url, from: 'indexhouse@example.com', to: ['you@example.com'] },
    ...{ user: 'me', password: '$'.concat('{MAIL_PASSWORD}') },
  }));
  const config = writeConfig(temporaryFolder(), { sections: { notify: { channels } } });
  const notify = (env: Record<string, string>) =>
    runProcess(['notify', '--test', '--config', config], { env: { MAIL_PASSWORD: 'secret', ...env } });

  const refused = await notify({});
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(
    /^! mail 0 \(email\): did not accept .*certificate.*\n! mail 1 \(email\): did not accept .*certificate/,
  );
  expect(servers.flatMap(({ mails, logins }) => [...mails, ...logins])).toEqual([]);

  const { code, stdout } = await notify({ NODE_EXTRA_CA_CERTS: AUTHORITY });
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^mail 0 \(email\): accepted .*\nmail 1 \(email\): accepted /),
  ]);
  for (const { mails, logins } of servers) {
    expect(logins).toEqual(['me:secret']);
    expect(mails).toEqual([expect.stringContaining('Subject: ')]);
  }
});
