import { Command } from 'commander';

export interface InitEffects {
  stdout: { write(text: string): unknown };
  env: Readonly<Record<string, string | undefined>>;
  cwd: () => string;
}

interface InitFlags {
  config?: string;
  json?: boolean;
}

/** `indexhouse init`: writes a commented `indexhouse.yaml`, never over an existing one, and says what comes next. */
export function initCommand(effects: InitEffects = process): Command {
  return new Command('init')
    .description('write a commented indexhouse.yaml (never over an existing one)')
    .option('-c, --config <file>', 'where to write it (default: indexhouse.yaml)')
    .option('--json', 'print one JSON document')
    .action(async (_flags: InitFlags, command: Command) => {
      // --config and --json may stand before the command's name as well.
      effects.stdout.write(await init(command.optsWithGlobals<InitFlags>(), effects));
    });
}

async function init({ config, json }: InitFlags, { env, cwd }: InitEffects): Promise<string> {
  const [{ configFile }, { writeStarterConfig }] = await Promise.all([
    import('../config/load.js'),
    import('../config/init.js'),
  ]);
  const file = configFile({ file: config, env, cwd: cwd() });
  await writeStarterConfig(file);
  const next = nextSteps(file, config === undefined ? '' : ` --config ${quoted(config)}`, env);
  if (json) return `${JSON.stringify({ file, next }, null, 2)}\n`;
  return `Wrote ${file}\n\nNext:\n${next.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}\n`;
}

function nextSteps(file: string, flag: string, env: InitEffects['env']): string[] {
  const token = env['INDEXHOUSE_TOKEN'] ? [] : ['Set the token:      export INDEXHOUSE_TOKEN=…'];
  return [
    ...token,
    `Edit the file:      api.base_url and websites in ${file}`,
    `Check everything:   indexhouse doctor${flag}`,
    `Make a first run:   indexhouse sync${flag}`,
  ];
}

/** Left bare where a shell would take it as one word, else in single quotes. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
