import { timingSafeEqual } from 'node:crypto';
import { stampOf } from '../../base/storage/durable.js';
import type { KeyDetails } from '../../source/contract/key.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { hashOf, readKeys, type StoredKey } from './key-file.js';

/** How long a key that was revoked, or a website that was added, may stay unnoticed. */
const LOOK_INTERVAL_MS = 1000;
/** The only account: this installation. */
const ACCOUNT = { _id: 'indexhouse', email: 'indexhouse@localhost' };

type KnownWebsite = Readonly<{ id: string; name: string }>;

/** A key as it was at one moment, with what it gave access to. */
interface LiveKey {
  hash: Buffer;
  details: KeyDetails;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The current keys of a warehouse, without reading their file for each request. */
export class LiveKeys {
  #seen: readonly LiveKey[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<readonly LiveKey[]> | null = null;
  #stored: readonly StoredKey[] = [];
  /** The file that they were read from. */
  #stamp: string | null = null;

  /** @param websites those that the warehouse holds */
  constructor(
    private readonly warehouse: string,
    private readonly websites: () => Promise<readonly KnownWebsite[]>,
    private readonly clock: () => number = () => performance.now(),
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * What the key of a bearer token may read; null for no such key, revoked and expired ones included.
   *
   * @throws WarehouseError if the file of the keys is damaged: then no key gives access to anything
   */
  readonly findKey = async (token: string): Promise<KeyDetails | null> => {
    const isFresh = this.clock() - this.#lookedAt < LOOK_INTERVAL_MS;
    const known = isFresh && keyOfToken(this.#seen, token);
    // A key that was just added works at once, because a client that gets a 401 may give up for good.
    const key = known || keyOfToken(await this.#newest(), token);
    return key && this.now() < key.expiresAt ? key.details : null;
  };

  /** Whether a key was added for all websites, later ones included: then it may see the state of this machine, too. */
  readsAll({ _id }: KeyDetails): boolean {
    return this.#stored.some(({ id, websites }) => id === _id && websites === 'all');
  }

  async #newest(): Promise<readonly LiveKey[]> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<readonly LiveKey[]> {
    const lookedAt = this.clock();
    // Taken before the file is read, so that the next look finds whatever changes in between.
    const stamp = await stampOf(warehouseFolder(this.warehouse).keys);
    if (stamp !== this.#stamp) {
      this.#stored = await readKeys(this.warehouse);
      this.#stamp = stamp;
    }
    const websites = await this.websites();
    this.#seen = this.#stored.map((key) => ({
      hash: Buffer.from(key.sha256, 'hex'),
      details: keyDetails(key, websites),
      expiresAt: key.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at),
    }));
    this.#lookedAt = lookedAt;
    return this.#seen;
  }
}

/** The key of this token, found in constant time, so that guesses reveal nothing. */
function keyOfToken(keys: readonly LiveKey[], token: string): LiveKey | undefined {
  const hash = hashOf(token);
  return keys.filter((key) => timingSafeEqual(key.hash, hash))[0];
}

function keyDetails(key: StoredKey, websites: readonly KnownWebsite[]): KeyDetails {
  const ids = key.websites === 'all' ? websites.map(({ id }) => id) : key.websites;
  const nameOf = new Map(websites.map(({ id, name }) => [id, name]));
  return {
    _id: key.id,
    api_key_label: key.label,
    account: ACCOUNT,
    websites_access: ids.map((id) => ({ _id: id, url: nameOf.get(id) ?? id })),
  };
}
