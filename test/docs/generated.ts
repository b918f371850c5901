import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { z } from 'zod';
import { analyses } from '../../src/answers/query/catalog.js';
import { processIo } from '../../src/app/cli/io.js';
import { buildProgram } from '../../src/app/cli/program.js';
import { configJsonSchema } from '../../src/base/config/schema.js';
import { packageFolder } from '../../src/base/storage/sql.js';
import { ENDINGS, FACES } from '../given/endings.js';

/** The parts of `docs/contract.md` that follow from the code, by the names of their markers. */
export function generatedParts(): Record<string, string> {
  return {
    endings: endings(),
    commands: commands(),
    configuration: configuration(),
    analyses: analysesList(),
  };
}

/** The text between a part's markers in a document; with `UPDATE_GENERATED` it is first replaced by the part. */
export function partOf(document: string, name: string, part: string): string | undefined {
  const file = join(packageFolder(), 'docs', document);
  const text = readFileSync(file, 'utf8');
  const [, start = '', found, end = ''] =
    new RegExp(`^([\\s\\S]*<!-- ${name}: generated -->\n)([\\s\\S]*?)(\n<!-- end -->[\\s\\S]*)$`).exec(text) ?? [];
  if (!process.env['UPDATE_GENERATED'] || found === undefined) return found;
  writeFileSync(file, start + part + end);
  return part;
}

/** What each ending of a run looks like, as `test/sync/endings.full.test.ts` proves. */
function endings(): string {
  const rows = ENDINGS.map(({ name, exitCode, notices }) => {
    const { lastLine, ping, health } = FACES[exitCode];
    const notice = notices.map((kind) => `\`${kind}\``).join(', ') || '–';
    const pinged = ping === '' ? 'success' : `\`${ping}\``;
    return `| ${name} | ${exitCode} | ${notice} | \`${lastLine}…\` | ${pinged} | ${health.status} \`${health.says}\` |`;
  });
  return ['| ending | exit code | notice | last line | ping | `/healthz` |', '|---|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function commands(): string {
  const program = buildProgram('0.0.0', processIo(), { exitCode: 0 });
  const shared = new Set(program.options.map(({ long }) => long));
  const common = optionTable(program.options.filter(({ long }) => long !== '--version'));
  const each = program.commands.flatMap(withSubcommands).map(({ name, command }) => {
    const own = command.options.filter(({ long }) => !shared.has(long ?? ''));
    return `### \`indexhouse ${name}\`\n\n${sentence(command)}${own.length > 0 ? `\n\n${optionTable(own)}` : ''}`;
  });
  return [`Every command takes:\n\n${common}`, ...each].join('\n\n');
}

function withSubcommands(command: Command): { name: string; command: Command }[] {
  const own = command.commands.map((one) => {
    const words = one.registeredArguments.map((argument) => ` <${argument.name()}>`).join('');
    return { name: `${command.name()} ${one.name()}${words}`, command: one };
  });
  return [{ name: command.name(), command }, ...own];
}

function sentence(command: Command): string {
  const text = command.description();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map(({ flags, description }) => `| \`${flags}\` | ${cell(description)} |`);
  return ['| option | meaning |', '|---|---|', ...rows].join('\n');
}

const schemaNode = z.looseObject({
  description: z.string().optional(),
  default: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  anyOf: z
    .array(z.object({ items: z.object({ properties: z.record(z.string(), z.unknown()).optional() }).optional() }))
    .optional(),
});

function configuration(): string {
  const rows: string[] = [];
  const walk = (node: unknown, path: string[]) => {
    const { description, default: value, properties, anyOf } = schemaNode.parse(node);
    if (properties && path.length < 3) {
      for (const [key, child] of Object.entries(properties)) walk(child, [...path, key]);
      return;
    }
    const shown = value === undefined ? '' : `\`${JSON.stringify(value).replaceAll('"', '')}\``;
    rows.push(`| \`${path.join('.')}\` | ${shown} | ${cell(description ?? '')} |`);
    // The entries of a list, where the value may be one.
    const entries = anyOf?.flatMap(({ items }) => Object.entries(items?.properties ?? {})) ?? [];
    for (const [key, child] of entries) walk(child, [`${path.join('.')}[]`, key]);
  };
  walk(configJsonSchema(), []);
  return ['| key | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

function analysesList(): string {
  const rows = analyses().map(({ name, title, grain, parameters }) => {
    const names = parameters.map((parameter) => `\`${parameter.name}\``).join(', ');
    return `| \`${name}\` | ${cell(title)} | ${cell(grain)} | ${names} |`;
  });
  return ['| name | answers | grain | parameters |', '|---|---|---|---|', ...rows].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
