import { Command, InvalidArgumentError } from 'commander';
import { quoted } from './command.js';
import { askOnTerminal } from './terminal-question.js';

const MOST_PAGES = 1_000_000_000;
const QUESTION = 'How many pages do your websites have together? (Enter to skip) ';
const QUESTION_AGAIN = 'Write a whole number, such as 25000, or nothing: ';

export interface InitEffects {
  stdout: { write(text: string): unknown; columns?: number | undefined };
  env: Readonly<Record<string, string | undefined>>;
  cwd: () => string;
  /** Null where there is nobody to ask. */
  ask: (question: string) => Promise<string | null>;
}

const realInitEffects: InitEffects = {
  stdout: process.stdout,
  env: process.env,
  cwd: process.cwd,
  ask: askOnTerminal,
};

interface InitFlags {
  config?: string;
  json?: boolean;
  pages?: number;
}

/** `indexhouse init`: writes a commented `indexhouse.yaml`, never over an existing one, and says what comes next. */
export function initCommand(effects: InitEffects = realInitEffects): Command {
  return new Command('init')
    .description('write a commented indexhouse.yaml (never over an existing one)')
    .option('-c, --config <file>', 'where to write it (default: indexhouse.yaml)')
    .option('--json', 'print one JSON document')
    .option('--pages <number>', 'how many pages the websites have together, to say what they cost', pagesFlag)
    .action(async (_flags: InitFlags, command: Command) => {
      // --config and --json may stand before the command's name as well.
      effects.stdout.write(await init(command.optsWithGlobals<InitFlags>(), effects));
    });
}

function pagesFlag(text: string): number {
  const pages = pagesIn(text);
  if (pages === null) throw new InvalidArgumentError(`It must be a whole number up to ${MOST_PAGES}.`);
  return pages;
}

async function init({ config, json, pages }: InitFlags, { env, cwd, ask, stdout }: InitEffects): Promise<string> {
  const [{ configFile }, { writeStarterConfig }] = await Promise.all([
    import('../config/load.js'),
    import('../config/init.js'),
  ]);
  const file = configFile({ file: config, env, cwd: cwd() });
  await writeStarterConfig(file);
  const next = nextSteps(file, config === undefined ? '' : ` --config ${quoted(config)}`, env);
  const known = pages ?? (json ? null : await askForPages(ask));
  const sentence = known === null ? null : await costOf(known, file, env);
  if (json) return `${JSON.stringify({ file, next, ...(sentence === null ? {} : { sentence }) }, null, 2)}\n`;
  const { wrapped } = await import('./output.js');
  const cost = sentence === null ? '' : `${wrapped(sentence, stdout.columns)}\n\n`;
  return `Wrote ${file}\n\n${cost}Next:\n${next.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}\n`;
}

/** Asks twice at most: the number only serves to show what it costs. */
async function askForPages(ask: InitEffects['ask']): Promise<number | null> {
  for (const question of [QUESTION, QUESTION_AGAIN]) {
    const answer = (await ask(question))?.trim();
    if (!answer) return null;
    const pages = pagesIn(answer);
    if (pages !== null) return pages;
  }
  return null;
}

/** `25000`, `25,000` or `25 000`; null for what is no whole number. */
function pagesIn(text: string): number | null {
  const pages = /^\d+([,_ ]\d{3})*$/.test(text) ? Number(text.replace(/\D/g, '')) : Number.NaN;
  return pages <= MOST_PAGES ? pages : null;
}

/** What so many pages cost with the configuration that was just written; null where the environment breaks that. */
async function costOf(pages: number, file: string, env: InitEffects['env']): Promise<string | null> {
  const [{ loadConfig }, { costSentence, listingRequests }] = await Promise.all([
    import('../config/load.js'),
    import('../forecast/cost.js'),
  ]);
  const config = await loadConfig({ file, env, cwd: '/', withoutTokens: true }).catch(() => null);
  if (config === null) return null;
  const { api, reports } = config;
  const key = {
    websites: [{ pages, fetchable: pages }],
    listingRequests: listingRequests(pages, api.page_size),
  };
  return costSentence([key], {
    requestsPerMinute: api.requests_per_minute,
    measuredPerSecond: null,
    deadline: reports.deadline,
    maxPerRun: reports.max_per_run,
  });
}

function nextSteps(file: string, flag: string, env: InitEffects['env']): string[] {
  const token = env['INDEXHOUSE_TOKEN'] ? [] : ['Set the token:      export INDEXHOUSE_TOKEN=…'];
  return [
    ...token,
    `Edit the file:      api.base_url and websites in ${file}`,
    `Check everything:   indexhouse doctor${flag}`,
    `See what it costs:  indexhouse plan${flag}`,
    `Make a first run:   indexhouse sync${flag}`,
  ];
}
