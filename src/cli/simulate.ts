import { Command, InvalidArgumentError, Option } from 'commander';
import type { FaultRates } from '../simulator/faults.js';
import { LIMITER_KINDS, type LimiterKind, RATE_HEADERS, type RateHeaders } from '../simulator/limiters.js';
import type { Simulator } from '../simulator/simulator.js';

const DEFAULT_PORT = 8089;
const DEFAULT_PAGES = 3000;
const DEFAULT_WEBSITE_ID = '645f2e5cd8cd9b7bd8b55ab1';
const DEFAULT_REQUESTS_PER_MINUTE = 60;
const DEFAULT_RATE_WINDOW_S = 60;
const DEFAULT_MAX_LIMIT_ENTRIES = 1000;

const EXAMPLES = `
The world stands still until it is told to go on:
  curl -X POST http://127.0.0.1:${DEFAULT_PORT}/control/advance?nights=1

Fault kinds: 429, 500, 503, reset, redirect, html, invalid_json, endless, slow, truncated, violation, wrong_url.
Each rate is the share of the requests that meet it.

Examples:
  indexhouse simulate
  indexhouse simulate --pages 20000 --rate-limit unlimited --faults reset=0.01,503=0.02
  indexhouse simulate --website shop blog --seed 7 --nights 30 --prefix /tenant/api`;

interface Flags {
  port: number;
  host: string;
  seed: number;
  pages: number;
  website: string[];
  token: string;
  nights: number;
  rateLimit: number | 'unlimited';
  rateWindow: number;
  limiter: LimiterKind;
  rateHeaders: RateHeaders;
  maxLimit: number;
  prefix: string;
  faults: FaultRates;
  nasty: boolean;
}

/** `indexhouse simulate`: runs a seeded upstream service until it is interrupted. */
export function simulateCommand(): Command {
  return new Command('simulate')
    .description('run a seeded, evolving upstream service with fault injection, for trying out and testing')
    .addOption(
      new Option('--port <number>', '0 takes a free one').argParser(wholeNumber(0, 65_535)).default(DEFAULT_PORT),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(new Option('--seed <number>', 'same seed, same world').argParser(wholeNumber(0, 2 ** 31 - 1)).default(1))
    .addOption(
      new Option('--pages <number>', 'pages of each website')
        .argParser(wholeNumber(0, 5_000_000))
        .default(DEFAULT_PAGES),
    )
    .option('--website <id...>', 'ids of the websites', [DEFAULT_WEBSITE_ID])
    .option('--token <token>', 'the API key that may read them', 'demo-token')
    .addOption(
      new Option('--nights <number>', 'nights to live through first').argParser(wholeNumber(0, 10_000)).default(0),
    )
    .addOption(
      new Option('--rate-limit <per minute>', 'requests a minute for the key, or "unlimited"')
        .argParser((text) => (text === 'unlimited' ? text : wholeNumber(1, 1_000_000_000)(text)))
        .default(DEFAULT_REQUESTS_PER_MINUTE),
    )
    .addOption(
      new Option('--rate-window <seconds>', 'count the rate limit over this many seconds instead of a minute')
        .argParser(wholeNumber(1, 86_400))
        .default(DEFAULT_RATE_WINDOW_S),
    )
    .addOption(
      new Option(
        '--limiter <kind>',
        'how the rate limit counts: windows from the first request, windows of the clock, any such time, or a bucket',
      )
        .choices(LIMITER_KINDS)
        .default('first-request'),
    )
    .addOption(
      new Option(
        '--rate-headers <meaning>',
        "what X-RateLimit-Reset means: the window's boundary, a window from now, the next request, the full allowance; off: no rate headers",
      )
        .choices(RATE_HEADERS)
        .default('boundary'),
    )
    .addOption(
      new Option('--max-limit <entries>', 'largest window of the listing')
        .argParser(wholeNumber(1, 1_000_000))
        .default(DEFAULT_MAX_LIMIT_ENTRIES),
    )
    .option('--prefix <path>', 'path in front of /v1, e.g. /tenant/api', '')
    .addOption(new Option('--faults <rates>', 'JSON, or kind=rate,…').argParser(faultRates).default({}, 'none'))
    .option('--nasty', 'add pages whose URLs are hard to encode', false)
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags, command: Command) => {
      const simulator = await start(flags, command);
      const json = command.optsWithGlobals<{ json?: boolean }>().json === true;
      process.stdout.write(json ? `${JSON.stringify(summary(simulator, flags))}\n` : greeting(simulator, flags));
      await interrupted();
      await simulator.close();
    });
}

async function start(flags: Flags, command: Command): Promise<Simulator> {
  const { startSimulator } = await import('../simulator/simulator.js');
  const { website, pages, nasty, token, ...options } = flags;
  const websites = website.map((id) => ({ id, pages, nasty }));
  try {
    return await startSimulator({
      ...options,
      websites,
      keys: [{ token, label: 'simulator', websites: 'all' }],
      // Distinct requests are as many as pages: beyond that, totals must do.
      countPerRequest: pages * website.length <= 200_000,
    });
  } catch (error) {
    const { prettifyError, ZodError } = await import('zod');
    const unusable = error instanceof ZodError || error instanceof TypeError;
    const reason = error instanceof ZodError ? prettifyError(error) : error instanceof Error ? error.message : error;
    return command.error(`error: the simulator could not start: ${reason}`, { exitCode: unusable ? 2 : 1 });
  }
}

function summary({ url, origin, world }: Simulator, { token }: Flags): Record<string, unknown> {
  return { base_url: url, control_url: `${origin}/control`, token, night: world.night, websites: world.websites };
}

function greeting({ url, origin, world }: Simulator, { token, rateLimit, rateWindow }: Flags): string {
  const first = encodeURIComponent(world.websites[0]?.id ?? '');
  const websites = world.websites
    .map(({ id, domain }) => `  - id: ${JSON.stringify(id)}\n    name: ${domain}\n`)
    .join('');
  return `Simulated service at ${url}, night ${world.night} (${world.now.toISOString()}), seed ${world.seed}
Token: ${token}

Try:
  curl -H 'Authorization: Bearer ${token}' '${url}/v1/urls/${first}?skip=0&limit=2'
  curl -X POST '${origin}/control/advance?nights=1'

In indexhouse.yaml:
api:
  base_url: ${url}
  token: ${JSON.stringify(token)}
  requests_per_minute: ${rateLimit === 'unlimited' ? rateLimit : (rateLimit * 60) / rateWindow}
websites:
${websites}
Stop with Ctrl-C.
`;
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** Only the form is read here; kinds and rates are checked where they are used. */
function faultRates(text: string): unknown {
  if (!text.startsWith('{')) return Object.fromEntries(text.split(',').map(faultRate));
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('It is not JSON. Write {"reset": 0.01} or reset=0.01,503=0.02.');
  }
}

function faultRate(text: string): [string, number] {
  const [, kind, rate] = /^(\w+)=(\d*\.?\d+)$/.exec(text.trim()) ?? [];
  if (kind === undefined) throw new InvalidArgumentError(`"${text}" is not of the form kind=rate.`);
  return [kind, Number(rate)];
}
