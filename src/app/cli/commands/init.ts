import { writeStarterConfig } from '../../../base/config/init.js';
import { configFile } from '../../../base/config/load.js';
import { shellWord } from '../../../base/observe/format.js';
import type { Globals } from '../command.js';
import { EXIT, type Io } from '../io.js';
import { formatJson } from '../output/output.js';

interface Flags extends Globals {
  source?: 'api' | 'google';
  full?: boolean;
}

/** `indexhouse init`: writes a commented `indexhouse.yaml`, never over an existing one, and says what to do next. */
export async function run({ config, json, source, full }: Flags, io: Io): Promise<number> {
  const file = configFile({ file: config, env: io.env, cwd: io.cwd });
  await writeStarterConfig(file, { source, full });
  const next = nextSteps(file, source === 'google', config === undefined ? '' : ` --config ${shellWord(config)}`, io);
  const steps = next.map((step, index) => `  ${index + 1}. ${step}`).join('\n');
  io.stdout.write(json ? formatJson({ file, next }) : `Wrote ${file}\n\nNext:\n${steps}\n`);
  return EXIT.done;
}

function nextSteps(file: string, isGoogle: boolean, flag: string, { env, program }: Io): string[] {
  const token = isGoogle || env['INDEXHOUSE_TOKEN'] ? [] : ['Set the token:      export INDEXHOUSE_TOKEN=…'];
  return [
    ...token,
    `Edit the file:      ${isGoogle ? '' : 'api.base_url and '}websites in ${file}`,
    `Check everything:   ${program} doctor${flag}`,
    `See what it costs:  ${program} plan${flag}`,
    `Make a first run:   ${program} sync${flag}`,
  ];
}
