import { removeLogin } from '../../../source/search-console/login.js';
import type { Globals } from '../command.js';
import { googleSettings } from '../configured.js';
import { EXIT, type Io, stoppable } from '../io.js';
import { formatJson } from '../output/output.js';

/** `indexhouse logout`: revokes the sign-in of `indexhouse login`, and deletes its file. */
export function run(flags: Globals & { account?: string }, io: Io): Promise<number> {
  return stoppable(io, async (signal) => {
    await googleSettings(flags, io);
    const removed = await removeLogin(signal, flags.account);
    const { path: file = null, problem = null } = removed ?? {};
    const text = removed
      ? `Signed out: ${file} is deleted${problem ? `. ${problem}` : ', and the sign-in revoked'}.\n`
      : 'Nobody is signed in.\n';
    io.stdout.write(flags.json ? formatJson({ file, problem }) : text);
    return problem ? EXIT.warnings : EXIT.done;
  });
}
