import { realEffects } from '../../../base/effects.js';
import { removeLogin } from '../../../source/search-console/login.js';
import { SecretExchange } from '../../../source/search-console/secret-exchange.js';
import type { Globals } from '../command.js';
import { googleSettings } from '../configured.js';
import { EXIT, type Io, stoppable } from '../io.js';
import { formatJson } from '../output/output.js';
import { TIMEOUT_MS } from './login.js';

/** `indexhouse logout`: revokes the sign-in of `indexhouse login`, and deletes its file. */
export function run(flags: Globals & { account?: string }, io: Io): Promise<number> {
  return stoppable(io, async (signal) => {
    await googleSettings(flags, io);
    const remedyFor = () => 'remove the access at https://myaccount.google.com/connections';
    const exchange = new SecretExchange({
      path: 'the stored sign-in',
      timeout: TIMEOUT_MS,
      effects: realEffects,
      signal,
      remedyFor,
    });
    const removed = await removeAndClose(exchange, flags.account);
    const problem = removed?.problem ? `Google did not revoke it: ${removed.problem}` : null;
    const text = removed
      ? `Signed out: ${removed.path} is deleted${problem ? `. ${problem}` : ', and the sign-in revoked'}.\n`
      : 'Nobody is signed in.\n';
    io.stdout.write(flags.json ? formatJson({ file: removed?.path ?? null, problem }) : text);
    return problem ? EXIT.warnings : EXIT.done;
  });
}

async function removeAndClose(exchange: SecretExchange, account: string | undefined) {
  try {
    return await removeLogin(exchange, account);
  } finally {
    await exchange.close();
  }
}
