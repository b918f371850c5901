import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { KnownKey } from '../keys/manage-keys.js';
import { flagsOf, type Globals, newCommand, UsageError } from './command.js';
import { readerOptions } from './reader-options.js';

const ALL = 'all';
const WAREHOUSE = ['--warehouse <folder>', 'the warehouse, instead of the one that the configuration names'] as const;

const ADD_HELP = `
The token is printed once and kept nowhere; the warehouse keeps its SHA-256.

Examples:
  indexhouse keys add --label dashboard --website all
  indexhouse keys add --label contractor --website all --expires 90d
  indexhouse keys add --label partner --website 645f2e5cd8cd9b7bd8b55ab1 --json`;

interface Flags extends Globals {
  warehouse?: string;
}

interface AddFlags extends Flags {
  label: string;
  website: string[];
  expires?: string;
}

/** `indexhouse keys`: who may ask `indexhouse serve`. */
export function keysCommand(): Command {
  return newCommand('keys', 'the API keys that `indexhouse serve` is asked with')
    .addCommand(addCommand().exitOverride())
    .addCommand(listCommand().exitOverride())
    .addCommand(revokeCommand().exitOverride());
}

function addCommand(): Command {
  return newCommand('add', 'add a key, and print its token this once')
    .requiredOption('-l, --label <text>', 'what the key is called')
    .requiredOption('-w, --website <id...>', 'ids of the websites that it may read, or "all", later ones included')
    .option(
      '--expires <when>',
      'until when it works: a date (its end, UTC), a time or a duration such as 90d (default: never)',
    )
    .option(...WAREHOUSE)
    .addHelpText('after', ADD_HELP)
    .action(async (_: AddFlags, command: Command) => {
      await add(flagsOf<AddFlags>(command));
    });
}

function listCommand(): Command {
  return newCommand('list', 'the keys that there are, without their tokens')
    .option(...WAREHOUSE)
    .action(async (_: Flags, command: Command) => {
      await list(flagsOf<Flags>(command));
    });
}

function revokeCommand(): Command {
  return newCommand('revoke', 'take a key away; a service that runs refuses it within two seconds')
    .argument('<id or label>', 'the id of the key, or its label where no other has it')
    .option(...WAREHOUSE)
    .action(async (key: string, _: Flags, command: Command) => {
      await revoke(key, flagsOf<Flags>(command));
    });
}

async function add(flags: AddFlags): Promise<void> {
  const websites = grantOf(flags.website);
  const [warehouse, { addKey }] = await Promise.all([folderOf(flags), import('../keys/manage-keys.js')]);
  const { key, token } = await addKey(warehouse, { label: flags.label, websites, expires: flags.expires });
  if (flags.json) return print({ ...shown(key), token });
  const { safe } = await import('../observe/terminal.js');
  const { label, id } = key;
  const until = key.expires_at === undefined ? '' : `, until ${key.expires_at}`;
  const text = `Key "${safe(label)}" for ${safe(grantText(key))}${until}, id ${id}\nToken: ${token}\n\n`;
  process.stdout.write(`${text}${await unknownNote(warehouse, key)}It is shown only now; only its SHA-256 is kept.\n`);
}

async function list(flags: Flags): Promise<void> {
  const [warehouse, { readKeys }, { readLastUses }, { known }, { checkWarehouseThere }, { formatTable }] =
    await Promise.all([
      folderOf(flags),
      import('../keys/key-file.js'),
      import('../keys/last-uses.js'),
      import('../keys/manage-keys.js'),
      import('../warehouse/prepare.js'),
      import('./output.js'),
    ]);
  await checkWarehouseThere(warehouse);
  const uses = await readLastUses(warehouse);
  const keys = (await readKeys(warehouse)).map((key) => ({
    ...shown(known(key)),
    last_used_at: uses[key.id] ?? null,
  }));
  if (flags.json) return print(keys);
  const rows = keys.map((key) => [
    key.label,
    grantText(key),
    key.created_at,
    expiryText(key.expires_at),
    key.last_used_at ?? 'never',
    key.id,
  ]);
  const table = formatTable(['label', 'websites', 'created', 'expires', 'last used', 'id'], rows, {
    width: process.stdout.columns,
  });
  const none = 'No keys yet. Add one: indexhouse keys add --label reader --website all\n';
  process.stdout.write(keys.length === 0 ? none : table);
}

async function revoke(idOrLabel: string, flags: Flags): Promise<void> {
  const [warehouse, { revokeKey }] = await Promise.all([folderOf(flags), import('../keys/manage-keys.js')]);
  const key = await revokeKey(warehouse, idOrLabel);
  if (flags.json) return print(shown(key));
  const { safe } = await import('../observe/terminal.js');
  process.stdout.write(`Revoked the key "${safe(key.label)}" (${key.id}).\n`);
}

function grantOf(websites: string[]): KnownKey['websites'] {
  if (!websites.includes(ALL)) return websites;
  if (websites.length > 1) throw new UsageError('--website takes ids of websites, or "all" alone');
  return ALL;
}

/** As `--json` prints it: with all of its fields. */
function shown(key: KnownKey) {
  return { ...key, expires_at: key.expires_at ?? null };
}

function expiryText(at: string | null): string {
  if (at === null) return 'never';
  return Date.parse(at) <= Date.now() ? `expired ${at}` : at;
}

function grantText({ websites }: Pick<KnownKey, 'websites'>): string {
  return websites === ALL ? 'all websites' : websites.join(', ');
}

/** A website may be granted before its first sync; more often its id is mistyped. */
async function unknownNote(warehouse: string, { websites }: KnownKey): Promise<string> {
  if (websites === ALL) return '';
  const [{ namesIn }, { join }, { encodeId }, { safe }] = await Promise.all([
    import('../warehouse/layout.js'),
    import('node:path'),
    import('../storage/names.js'),
    import('../observe/terminal.js'),
  ]);
  const there = new Set(await namesIn(join(warehouse, 'parquet', 'snapshots')));
  const unknown = websites.filter((id) => !there.has(`website=${encodeId(id)}`));
  if (unknown.length === 0) return '';
  return `! The warehouse holds no snapshot of ${safe(unknown.join(', '))} yet; \`indexhouse status\` shows what it has.\n`;
}

async function folderOf(flags: Flags): Promise<string> {
  return resolve((await readerOptions(flags)).warehouse);
}

async function print(value: unknown): Promise<void> {
  const { formatJson } = await import('./output.js');
  process.stdout.write(formatJson(value));
}
