import type { Store } from '../../../serve/api/store.js';
import type { KeyDetails } from '../../../source/contract/key.js';
import { hashText } from './random.js';
import type { World } from './world.js';

export interface SimulatedKey {
  token: string;
  label: string;
  /** Ids of the websites that the key may read. */
  websites: readonly string[] | 'all';
}

/** A store over a world, for the service to read from. A key may name a website that does not exist. */
export function worldStore(world: World, keys: readonly SimulatedKey[]): Store {
  const byToken = new Map(keys.map((key, index) => [key.token, keyDetails(world, key, index)]));
  return {
    findKey: async (token) => byToken.get(token) ?? null,
    hasWebsite: async (websiteId) => world.websites.some(({ id }) => id === websiteId),
    listCoverage: async (websiteId, { skip, limit }) => world.listing(websiteId, skip, limit),
    findReport: async (url, websiteIds) => {
      const report = websiteIds.map((id) => world.report(id, url)).find((found) => found !== null);
      if (report) return { report };
      return world.websites.some(({ id }) => world.report(id, url) !== null) ? 'elsewhere' : null;
    },
  };
}

function keyDetails(world: World, { label, websites }: SimulatedKey, index: number): KeyDetails {
  const domains = new Map(world.websites.map(({ id, domain }) => [id, domain]));
  const ids = websites === 'all' ? [...domains.keys()] : websites;
  return {
    _id: objectId(`key ${index} ${label}`),
    api_key_label: label,
    account: { _id: objectId('account'), email: 'demo@example.com' },
    websites_access: ids.map((id) => ({ _id: id, url: domains.get(id) ?? 'gone.example' })),
  };
}

/** An id like those of a document database: 24 hexadecimal digits. */
function objectId(text: string): string {
  return [1, 2, 3].map((seed) => hashText(seed, text).toString(16).padStart(8, '0')).join('');
}
