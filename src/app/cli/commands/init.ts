import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { writeStarterConfig } from '../../../base/config/init.js';
import { configFile } from '../../../base/config/load.js';
import { Failure, messageOf, Stopped, UsageError } from '../../../base/exit.js';
import { shellWord } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { SourceError } from '../../../source/errors.js';
import { googleSettings } from '../configured.js';
import { EXIT, type Globals, type Io, stoppable } from '../io.js';
import { formatJson } from '../output/output.js';

export interface Flags extends Globals {
  source?: 'api' | 'google';
  yes?: boolean;
  full?: boolean;
}

/** `indexhouse init`: writes a commented `indexhouse.yaml`, never over an existing one, and says what to do next. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { config, json, source, full } = flags;
  const file = configFile({ file: config, env: io.env, cwd: io.cwd });
  const chosen = source === 'google' && !existsSync(file) ? await chosenProperties(flags, io) : [];
  await writeStarterConfig(file, { source, full, properties: chosen });
  const flag = config === undefined ? '' : ` --config ${shellWord(config)}`;
  const next = nextSteps(file, { isGoogle: source === 'google', isWhole: chosen.length > 0, flag }, io);
  const steps = next.map((step, index) => `  ${index + 1}. ${step}`).join('\n');
  io.stdout.write(json ? formatJson({ file, properties: chosen, next }) : `Wrote ${file}\n\nNext:\n${steps}\n`);
  return EXIT.done;
}

type Steps = Record<'isGoogle' | 'isWhole', boolean> & { flag: string };

/** @param steps `isWhole`: nothing has to be edited */
function nextSteps(file: string, { isGoogle, isWhole, flag }: Steps, { env, program }: Io): string[] {
  const token = env['INDEXHOUSE_TOKEN'] ? [] : ['Set the token:      export INDEXHOUSE_TOKEN=…'];
  const first = isGoogle ? [`Sign in:            ${program} login --client client_secret.json`] : token;
  return [
    ...(isWhole ? [] : [...first, `Edit the file:      ${isGoogle ? '' : 'api.base_url and '}websites in ${file}`]),
    `Check everything:   ${program} doctor${flag}`,
    `Make a first run:   ${program} sync${flag}`,
  ];
}

/** The properties that the account can read and the user chooses, without those that others cover; none without an account. */
async function chosenProperties({ json, yes }: Flags, io: Io): Promise<string[]> {
  const { readableSites } = await import('../../../source/search-console/account.js');
  const { widestOf } = await import('../../../source/search-console/property.js');
  const google = await googleSettings({}, io);
  const readable = async (signal: AbortSignal) => widestOf(await readableSites({ google, signal }));
  const widest = await stoppable(io, readable).catch((error) => {
    if (!(error instanceof SourceError)) throw error;
    // Without an account, an example helps. After a failed request, it would block the next `init`.
    if (error.kind !== 'unauthorized' || error.status !== null)
      throw new Failure(`the properties cannot be listed, so nothing was written: ${error.message}`);
    io.stderr.write(`${safe(`indexhouse: the file names no property of yours: ${messageOf(error)}`)}\n`);
    return null;
  });
  if (widest?.size === 0)
    throw new Failure(
      'the account can read no property, so nothing was written: sign in with the Google account that can, or have an owner add it in Search Console under Settings → Users and permissions',
    );
  const ids = [...(widest?.keys() ?? [])];
  if (json || widest === null) return ids;
  const lines = [...widest].map(([id, covered], at) => {
    const lends = covered.length > 0 ? `  (with the quota of ${covered.join(', ')}, which it covers)` : '';
    return `  ${at + 1}  ${safe(id + lends)}\n`;
  });
  io.stdout.write(`Your account can read:\n${lines.join('')}\n`);
  if (yes || ids.length === 1) return ids;
  if (!io.stdin.isTTY) throw new UsageError('choose on a terminal, or take all with --yes; nothing was written');
  return chosenOf(ids, io);
}

async function chosenOf(ids: readonly string[], { stdin, stdout }: Io): Promise<string[]> {
  const lines = createInterface({
    input: stdin,
    output: stdout,
    prompt: 'Which ones? Numbers such as 1, 3, or nothing for all: ',
  });
  lines.prompt();
  const { value = '', done } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  // Ctrl-C and Ctrl-D.
  if (done) throw new Stopped('nothing was written');
  const numbers = value.split(/[\s,]+/).filter(Boolean);
  const chosen = numbers.map((number: string) => ids[Number(number) - 1]);
  if (chosen.includes(undefined))
    throw new UsageError(`"${value}" names no number from 1 to ${ids.length}; nothing was written`);
  return chosen.length > 0 ? [...new Set<string>(chosen)] : [...ids];
}
