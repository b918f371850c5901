import { createInterface } from 'node:readline/promises';
import { writeStarterConfig } from '../config/init.js';
import { configFile, loadConfig } from '../config/load.js';
import { UsageError } from '../exit.js';
import { shellWord } from '../observe/format.js';
import { costSentence } from '../plan/cost.js';
import { EXIT, type Io, widthOf } from './io.js';
import { formatJson, wrapped } from './output.js';
import type { Globals } from './program.js';

const MOST_PAGES = 1_000_000_000;
const QUESTION = 'How many pages do your websites have together? (Enter to skip) ';
const QUESTION_AGAIN = 'Enter a whole number, such as 25000, or leave it empty: ';

export interface Flags extends Globals {
  pages?: string;
}

/** `indexhouse init`: writes a commented `indexhouse.yaml`, never over an existing one, and says what to do next. */
export async function run({ config, json, pages }: Flags, io: Io): Promise<number> {
  const given = pages === undefined ? null : pagesIn(pages);
  if (pages !== undefined && given === null) {
    throw new UsageError(`--pages ${pages} is not a whole number up to ${MOST_PAGES}`);
  }
  const file = configFile({ file: config, env: io.env, cwd: io.cwd });
  await writeStarterConfig(file);
  const next = nextSteps(file, config === undefined ? '' : ` --config ${shellWord(config)}`, io);
  const known = given ?? (json ? null : await askForPages(io));
  const sentence = known === null ? null : await costOf(known, file, io.env);
  if (json) {
    io.stdout.write(formatJson({ file, next, ...(sentence === null ? {} : { sentence }) }));
    return EXIT.done;
  }
  const cost = sentence === null ? '' : `${wrapped(sentence, widthOf(io.stdout))}\n\n`;
  const steps = next.map((step, index) => `  ${index + 1}. ${step}`).join('\n');
  io.stdout.write(`Wrote ${file}\n\n${cost}Next:\n${steps}\n`);
  return EXIT.done;
}

/** Asks at most twice, because the number is only for the cost estimate; null without a terminal. */
async function askForPages({ stdin, stdout }: Io): Promise<number | null> {
  if (!stdin.isTTY || !stdout.isTTY) return null;
  const lines = createInterface({ input: stdin, output: stdout });
  const answers = lines[Symbol.asyncIterator]();
  try {
    for (const question of [QUESTION, QUESTION_AGAIN]) {
      lines.setPrompt(question);
      lines.prompt();
      const { value, done } = await answers.next();
      // Ctrl-D and Ctrl-C leave the cursor after the question.
      if (done) stdout.write('\n');
      if (done || value.trim() === '') return null;
      const pages = pagesIn(value.trim());
      if (pages !== null) return pages;
    }
    return null;
  } finally {
    lines.close();
  }
}

/** `25000`, `25,000` or `25 000`; null for anything else. */
function pagesIn(text: string): number | null {
  const pages = /^\d+([,_ ]\d{3})*$/.test(text) ? Number(text.replace(/\D/g, '')) : Number.NaN;
  return pages <= MOST_PAGES ? pages : null;
}

/** What this many pages cost with the configuration just written; null if the environment makes it invalid. */
async function costOf(pages: number, file: string, env: Io['env']): Promise<string | null> {
  const config = await loadConfig({ file, env, cwd: '/', withoutTokens: true }).catch(() => null);
  return config && costSentence(pages, config);
}

function nextSteps(file: string, flag: string, { env, program }: Pick<Io, 'env' | 'program'>): string[] {
  const token = env['INDEXHOUSE_TOKEN'] ? [] : ['Set the token:      export INDEXHOUSE_TOKEN=…'];
  return [
    ...token,
    `Edit the file:      api.base_url and websites in ${file}`,
    `Check everything:   ${program} doctor${flag}`,
    `See what it costs:  ${program} plan${flag}`,
    `Make a first run:   ${program} sync${flag}`,
  ];
}
