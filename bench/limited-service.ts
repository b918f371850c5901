import { startSimulator } from '../src/app/demo/simulator/simulator.js';
import { type SimulatedLimit, simulatedLimiter } from '../test/source/pace/simulated-limiter.js';

/**
 * A simulated service with a limiter of some kind. Says `{"base_url": …}` when it listens, until SIGTERM. Argument, as
 * JSON: what follows.
 */
export interface LimitedService {
  websites: readonly { id: string; pages: number }[];
  token: string;
  limit: Omit<SimulatedLimit, 'clock'>;
}

const { websites, token, limit }: LimitedService = JSON.parse(process.argv[2] ?? '');
const simulator = await startSimulator({
  websites,
  keys: [{ token, label: 'bench', websites: 'all' }],
  limiter: simulatedLimiter({ ...limit, clock: Date.now }),
});
process.stdout.write(`${JSON.stringify({ base_url: simulator.url })}\n`);
process.on('SIGTERM', () => void simulator.close());
