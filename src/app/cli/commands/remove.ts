import { createInterface } from 'node:readline/promises';
import type { Config } from '../../../base/config/schema.js';
import { allFrom, isExcepted, namedWebsites } from '../../../base/config/websites.js';
import { UsageError } from '../../../base/exit.js';
import { counted } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { readKeys } from '../../../serve/keys/key-file.js';
import { followersOf } from '../../../warehouse/copies/follow.js';
import { titleOf } from '../../../warehouse/copies/follower.js';
import { type Removal, remove } from '../../../warehouse/removal/maintain.js';
import { configOf, loggerOf } from '../configured.js';
import { EXIT, type Globals, type Io } from '../io.js';
import { formatJson, recordTable } from '../output/output.js';

export interface Flags extends Globals {
  website: string;
  yes?: boolean;
}

/** `indexhouse remove`: removes a website. */
export async function run({ website, yes, ...flags }: Flags, io: Io): Promise<number> {
  const config = await configOf(flags, io, { withoutTokens: true });
  const keys: string[] = [];
  const confirm = async (removal: Removal) => {
    // They stay: a key may name a website before its first sync.
    const all = await readKeys(config.warehouse.path);
    keys.push(...all.filter(({ websites }) => websites.includes(removal.website_id)).map(({ label }) => label));
    if (!flags.json)
      io.stdout.write(
        planText(removal, { followers: followersOf(config).map(titleOf), keys, again: againText(removal, config) }),
      );
    if (yes || (!flags.json && (await isConfirmed(io)))) return;
    if (flags.json) io.stdout.write(formatJson({ ...removal, keys, removed: false }));
    throw new UsageError('nothing was removed; --yes removes it without a question');
  };
  const receipt = await remove({ config, website, confirm, logger: loggerOf(flags, io) });
  io.stdout.write(flags.json ? formatJson({ ...receipt, keys }) : 'Removed.\n');
  return receipt.followers.some(({ behind }) => behind > 0) ? EXIT.warnings : EXIT.done;
}

async function isConfirmed({ stdin, stdout }: Io): Promise<boolean> {
  if (!stdin.isTTY || !stdout.isTTY) return false;
  const lines = createInterface({ input: stdin, output: stdout, prompt: 'Remove this for good? Type yes: ' });
  lines.prompt();
  const { value } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  return value === 'yes';
}

/** That the next sync brings a website back, and what to do about it. */
function againText({ website_id: id }: Removal, config: Config): string[] {
  const named = namedWebsites(config);
  if (isExcepted(config, id) || named?.every((website) => website.id !== id)) return [];
  const source = allFrom(config) === 'google' ? ', source: google' : '';
  const remedy = named
    ? 'delete its entry under `websites`'
    : `exclude it with \`websites: {all: true${source}, except: [${JSON.stringify(id)}]}\``;
  return [`The next sync brings it back, with a new history: to keep it away, ${remedy}.`];
}

function planText(
  removal: Removal,
  { followers, keys, again }: Record<'followers' | 'keys' | 'again', string[]>,
): string {
  const { website_id, snapshots, first_date, last_date, tables } = removal;
  const lines = [
    `It goes from the Parquet files, ${followers.join(', ')}.`,
    ...keys.map((label) => `The key "${label}" of \`indexhouse serve\` names it, and stays.`),
    ...again,
  ].map((line) => `${safe(line)}\n`);
  const title = safe(
    `Website ${website_id}: ${counted(snapshots, 'snapshot')}, ${first_date ?? 'none'} to ${last_date ?? 'none'}`,
  );
  return `${title}\n\n${recordTable(tables)}\n${lines.join('')}`;
}
