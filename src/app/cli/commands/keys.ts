import { join } from 'node:path';
import { promisify } from 'node:util';
import { namedWebsites, websiteIds } from '../../../base/config/websites.js';
import { UsageError } from '../../../base/exit.js';
import { safe } from '../../../base/observe/terminal.js';
import { encodeId } from '../../../base/storage/names.js';
import { readKeys } from '../../../serve/keys/key-file.js';
import { type AddedKey, addKey, type KnownKey, known, revokeKey } from '../../../serve/keys/manage-keys.js';
import { namesIn } from '../../../warehouse/log/folder/layout.js';
import { checkWarehouseThere } from '../../../warehouse/log/folder/prepare.js';
import { knownWebsites } from '../../../warehouse/log/log.js';
import { configOf, settingsFor } from '../configured.js';
import { EXIT, type Io, type ReadFlags, widthOf } from '../io.js';
import { formatJson, formatTable } from '../output/output.js';

const ALL = 'all';

export interface AddFlags extends ReadFlags {
  label: string;
  website: string[];
  expires?: string;
}

/** `indexhouse keys add` */
export async function add(flags: AddFlags, io: Io): Promise<number> {
  const { path: warehouse, memory_limit: memoryLimit } = (await settingsFor(flags, io)).warehouse;
  const websites = await grantOf(flags, warehouse, memoryLimit, io);
  const show = async ({ key, token }: AddedKey): Promise<void> => {
    const text = flags.json ? formatJson({ ...shown(key), token }) : await addedText(warehouse, key, token);
    await promisify<string, void>(io.stdout.write.bind(io.stdout))(text);
  };
  await addKey(warehouse, { label: flags.label, websites, expires: flags.expires }, { show });
  return EXIT.done;
}

async function addedText(warehouse: string, key: KnownKey, token: string): Promise<string> {
  const until = key.expires_at === undefined ? '' : `, until ${key.expires_at}`;
  const text = `Key "${safe(key.label)}" for ${safe(grantText(key))}${until}, id ${key.id}\nToken: ${token}\n\n`;
  return `${text}${await unknownNote(warehouse, key)}It is shown only once; the warehouse keeps its SHA-256.\n`;
}

/** `indexhouse keys list` */
export async function list(flags: ReadFlags, io: Io): Promise<number> {
  const { path } = (await settingsFor(flags, io)).warehouse;
  await checkWarehouseThere(path);
  const keys = (await readKeys(path)).map((key) => shown(known(key)));
  const rows = keys.map((key) => [key.label, grantText(key), key.created_at, expiryText(key.expires_at), key.id]);
  const table = formatTable(['label', 'websites', 'created', 'expires', 'id'], rows, { width: widthOf(io.stdout) });
  const none = 'No keys yet. Add one: indexhouse keys add --label reader --website all\n';
  io.stdout.write(flags.json ? formatJson(keys) : keys.length === 0 ? none : table);
  return EXIT.done;
}

/** `indexhouse keys revoke` */
export async function revoke(flags: ReadFlags, io: Io, [idOrLabel = '']: string[]): Promise<number> {
  const key = await revokeKey((await settingsFor(flags, io)).warehouse.path, idOrLabel);
  io.stdout.write(flags.json ? formatJson(shown(key)) : `Revoked the key "${safe(key.label)}" (${key.id}).\n`);
  return EXIT.done;
}

/** A configured website may be granted before its first sync, and any website before the warehouse's first sync. */
async function grantOf(flags: AddFlags, warehouse: string, memoryLimit: number, io: Io): Promise<KnownKey['websites']> {
  const { website } = flags;
  if (website.includes(ALL)) {
    if (website.length > 1) throw new UsageError('--website takes websites by id or name, or "all" alone');
    return ALL;
  }
  await checkWarehouseThere(warehouse);
  const config = flags.warehouse === undefined ? await configOf(flags, io, { withoutTokens: true }) : null;
  const known = [...(await knownWebsites(warehouse, memoryLimit)), ...((config && namedWebsites(config)) ?? [])];
  return known.length === 0 ? website : websiteIds(website, known, 'the warehouse');
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
  const there = new Set(await namesIn(join(warehouse, 'parquet', 'snapshots')));
  const unknown = websites.filter((id) => !there.has(`website=${encodeId(id)}`));
  if (unknown.length === 0) return '';
  return `! No snapshots of ${safe(unknown.join(', '))} yet; \`indexhouse status\` lists the websites.\n`;
}
