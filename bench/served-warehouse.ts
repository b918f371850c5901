import Fastify from 'fastify';
import { buildServer } from '../src/serve/api/http.js';
import { LiveReader } from '../src/serve/store/live-reader.js';
import { WarehouseStore } from '../src/serve/store/warehouse-store.js';
import { MEMORY_LIMIT, WEBSITE_ID } from './generated-nights.js';
import { TOKEN } from './processes.js';

/**
 * A warehouse served as `indexhouse serve` does, and beside it, in the same process, a bare fastify server that sends a
 * body that was prepared: the listing's first window. `/cpu` tells the seconds that the process computed.
 */
const [warehouse = ''] = process.argv.slice(2);
const reader = new LiveReader({ warehouse, memoryLimit: MEMORY_LIMIT });
const store = new WarehouseStore({
  warehouse,
  reader,
  timeZone: 'UTC',
  findKey: async (token) =>
    token === TOKEN
      ? {
          _id: 'bench',
          api_key_label: 'bench',
          account: { _id: 'bench', email: 'bench@example.com' },
          websites_access: [{ _id: WEBSITE_ID, url: 'www.example.com' }],
        }
      : null,
});
let prepared = '';
const bare = Fastify();
bare.get('/', async (_, reply) => reply.type('application/json; charset=utf-8').send(prepared));
const bareUrl = await bare.listen({ host: '127.0.0.1', port: 0 });
const app = buildServer(store, {
  setup: (told) => {
    told.get('/bare-url', async () => ({ url: bareUrl }));
    told.get('/cpu', async () => {
      const { user, system } = process.cpuUsage();
      return { seconds: (user + system) / 1e6 };
    });
  },
});
const url = `/v1/urls/${WEBSITE_ID}`;
prepared = (await app.inject({ url, headers: { authorization: `Bearer ${TOKEN}` } })).body;
const origin = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ base_url: origin })}\n`);
process.on('SIGTERM', () => {
  void Promise.all([app.close(), bare.close()])
    .then(() => reader.close())
    .then(() => process.exit(0));
});
