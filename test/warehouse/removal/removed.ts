import { createLogger } from '../../../src/base/observe/log.js';
import { remove } from '../../../src/warehouse/removal/maintain.js';
import { configFor } from '../../given/warehouse.js';

export function removeNow(warehouse: string, website: string) {
  const config = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse });
  return remove({ config, website, confirm: async () => {}, logger: createLogger({ level: 'silent' }) });
}
