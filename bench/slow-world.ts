import { startSimulator } from '../src/app/demo/simulator/simulator.js';
import { DEMO_WEBSITE_ID } from '../src/app/demo/simulator/world.js';

/**
 * A simulated service whose pages are visited again rarely, so that in a night about 2 % of the listing change. Says
 * `{"base_url": …}` when it listens, until SIGTERM. Arguments: pages, token.
 */
const RECRAWLED = 0.002;

const [pages = '', token = ''] = process.argv.slice(2);
const simulator = await startSimulator({
  websites: [{ id: DEMO_WEBSITE_ID, pages: Number(pages), deindexing: null, recrawled: RECRAWLED }],
  keys: [{ token, label: 'bench', websites: 'all' }],
});
process.stdout.write(`${JSON.stringify({ base_url: simulator.url })}\n`);
process.on('SIGTERM', () => void simulator.close());
