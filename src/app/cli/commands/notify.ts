import { secretsOf } from '../../../base/config/websites.js';
import { UsageError } from '../../../base/exit.js';
import { counted } from '../../../base/observe/format.js';
import { masker } from '../../../base/observe/masker.js';
import { safe } from '../../../base/observe/terminal.js';
import { type Sent, sendExamples, sendNotices } from '../../notify/notify.js';
import { configOf, loggerOf } from '../configured.js';
import { EXIT, type Globals, type Io } from '../io.js';
import { formatJson } from '../output/output.js';

export interface Flags extends Globals {
  test?: boolean;
}

/** `indexhouse notify`: sends what the channels have not got yet, or tests them. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const config = await configOf(flags, io);
  if (config.notify.channels.length === 0) {
    throw new UsageError(
      'no channel is configured: name one under `notify.channels`; `indexhouse init` writes examples',
    );
  }
  // The outcome for each channel is printed.
  const options = { config, logger: loggerOf({ logLevel: flags.test ? 'silent' : 'warn', ...flags }, io, config) };
  const sent = flags.test ? await sendExamples(options) : await sendNotices(options);
  const mask = masker(secretsOf(config));
  const shown = sent.map((one) => ({ ...one, error: one.error === null ? null : mask(one.error) }));
  io.stdout.write(flags.json ? formatJson(shown) : printed(shown));
  return shown.some(({ error }) => error !== null) ? EXIT.failed : EXIT.done;
}

function printed(sent: readonly Sent[]): string {
  if (sent.length === 0) return 'Nothing to report.\n';
  const lines = sent.map(({ channel, type, notices, error }) => {
    const name = channel === type ? type : `${channel} (${type})`;
    const what = type === 'ping' ? 'start, fail and success' : counted(notices, 'notice');
    return error === null ? `${name}: accepted ${what}` : `! ${name}: did not accept ${what}: ${error}`;
  });
  return lines.map((line) => `${safe(line)}\n`).join('');
}
