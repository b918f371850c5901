import { writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import { codeOf } from '../storage/durable.js';
import { packageFolder } from '../storage/sql.js';
import { fileError } from './errors.js';
import { configJsonSchema } from './schema.js';

type JsonSchema = ReturnType<typeof configJsonSchema>;

/** Written as they are, because they have no default and nothing works without them. */
const NEEDED: Readonly<Record<string, string>> = {
  'api.base_url': 'https://api.example.com',
  'api.token': `\${INDEXHOUSE_TOKEN}`,
  bucket: 's3://name/prefix',
  pages_from: 'owners.csv',
};

/** Shown in comments, where a default or a description does not show the form. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  websites: [{ id: '645f2e5cd8cd9b7bd8b55ab1', name: 'example.com', token: `\${OTHER_TOKEN}` }],
  'google.credentials': `\${GOOGLE_APPLICATION_CREDENTIALS}`,
  'reports.priority': { first: ['/blog/*'], never: ['*?print=*'] },
  retention: '400d',
  'notify.channels': [
    { type: 'slack', url: `\${SLACK_WEBHOOK_URL}` },
    {
      type: 'email',
      smtp: 'smtps://mail.example.com',
      user: 'indexhouse',
      password: `\${SMTP_PASSWORD}`,
      from: 'indexhouse@example.com',
      to: ['you@example.com'],
    },
    { type: 'ping', url: `\${PING_URL}` },
    { type: 'webhook', url: 'https://hooks.example.com/indexhouse', secret: `\${WEBHOOK_SECRET}` },
    { type: 'command', run: ['/usr/local/bin/on-notice'] },
  ],
  views: [{ name: 'Products out of the index', pages: 'directory=/products/&indexed=no' }],
  'notify.watch': ['/checkout/*'],
  'schedule.maintain': '0 6 * * 0',
  'service.trust_proxy': ['127.0.0.1'],
  'service.allowed_hosts': ['indexhouse.example.com'],
};

/** By default, there are no such sections. With `schedule`, a night that it names and that did not begin is missed. */
const LEFT_OUT = ['google', 'bucket', 'pages_from', 'schedule'];

/** What `source: google` needs, in place of these three sections. */
const GOOGLE_REPLACES = ['api', 'google', 'websites'];
const GOOGLE = `
google:
  # Credentials file; by default the sign-in of indexhouse login.
  # credentials: \${GOOGLE_APPLICATION_CREDENTIALS}

# For every property that the credentials can read: {all: true, source: google}
websites:
  - id: ID
    source: google
    inspections_per_day: 2000 # for each property
    properties: auto # those that cover its pages, too, and lend their quota; or a list of them
    sitemaps: auto # those that Search Console and robots.txt list; or a list of addresses`;
const PLACEHOLDER = '"sc-domain:example.com" # or a URL prefix with the slash at its end: https://www.example.com/';

const API = `
api:
  base_url: https://api.example.com
  token: \${INDEXHOUSE_TOKEN}

# Every website of the service, or a list: [{id: 645f2e5cd8cd9b7bd8b55ab1, name: example.com}]
websites: all`;

/** What every configuration has beside its source. */
const COMMON = `
warehouse:
  path: ./warehouse
  time_zone: UTC # of the dates in answers; fixed once there is data

# Who is told of a failed night or of pages that fell out of the index. Other channels: email, webhook, command, ping
# notify:
#   channels:
#     - {type: slack, url: "\${SLACK_WEBHOOK_URL}"}`;

interface Starter {
  /** Default: the status service. */
  source?: 'api' | 'google' | undefined;
  /** Every key with its description and its default. */
  full?: boolean | undefined;
  /** Of Search Console, to sync; an example if there is none. */
  properties?: readonly string[];
}

/**
 * Writes a commented configuration that leaves everything at its default, and the token as `${INDEXHOUSE_TOKEN}`.
 *
 * @param file absolute path
 * @throws ConfigError if something is there already (it is left as it is) or the file cannot be written.
 */
export async function writeStarterConfig(
  file: string,
  { source, full = false, properties = [] }: Starter = {},
): Promise<void> {
  const isGoogle = source === 'google';
  const sections = full ? everySection(isGoogle, properties) : [isGoogle ? googleSection(properties) : API, COMMON];
  const others = full ? 'these are the defaults' : 'docs/contract.md and `indexhouse init --full` have all keys';
  const set = isGoogle ? 'the ids of the websites' : 'api.base_url and the token';
  const text = `# yaml-language-server: $schema=${schemaFor(file)}
#
# The configuration of indexhouse. Set ${set}; everything else may stay as it is:
# ${others}. \${NAME} reads the environment. Check with: indexhouse doctor
${sections.join('\n')}
`;
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const code = codeOf(error);
    const [message, remedy] =
      code === 'EEXIST'
        ? ['this file already exists and was not changed', 'Edit it']
        : [`the file cannot be written (${code})`, 'Check its folder'];
    throw fileError(file, message, `${remedy}, or choose another with --config.`);
  }
}

/**
 * Where an editor finds the JSON Schema of this installation. A relative path if it is below the file, in a clone or a
 * project's `node_modules`, so that it stays right when both move; else a `file:` URL, as in a global installation.
 *
 * @param file absolute path of the configuration
 */
export function schemaFor(file: string): string {
  const schema = join(packageFolder(), 'docs', 'indexhouse.schema.json');
  const way = relative(dirname(file), schema);
  if (/^\.\.|\s/.test(way) || isAbsolute(way)) return pathToFileURL(schema).href;
  return way.split(sep).join('/');
}

/** Every key with its description and its default, or in a comment if it has none. */
function everySection(isGoogle: boolean, properties: readonly string[]): string[] {
  const written = keysOf(configJsonSchema()).filter(([name]) => !(isGoogle && GOOGLE_REPLACES.includes(name)));
  const sections = written.flatMap(([name, schema]) => {
    const keys = keysOf(schema);
    const lines =
      keys.length === 0
        ? valueLines(name, name, schema)
        : [`${name}:`, ...keys.flatMap(([key, one]) => keyLines(name, key, one))];
    const isLeftOut = LEFT_OUT.includes(name);
    return ['', `# ${schema.description}`, ...(isLeftOut ? commented(lines) : lines)];
  });
  return [...(isGoogle ? [googleSection(properties)] : []), ...sections];
}

/** Each website after the first has only what it cannot do without. */
function googleSection([first, ...others]: readonly string[]): string {
  const entries = others.map((id) => `\n  - id: ${JSON.stringify(id)}\n    source: google`);
  return GOOGLE.replace('ID', () => (first === undefined ? PLACEHOLDER : JSON.stringify(first))) + entries.join('');
}

function keyLines(section: string, key: string, schema: JsonSchema): string[] {
  const lines = [`# ${schema.description}`, ...valueLines(`${section}.${key}`, key, schema)];
  return lines.map((line) => `  ${line}`);
}

function valueLines(path: string, key: string, schema: JsonSchema): string[] {
  const value = NEEDED[path] ?? schema.default;
  const example = EXAMPLES[path];
  return [
    ...(value === undefined ? [] : yamlLines({ [key]: value })),
    ...(example === undefined ? [] : commented(yamlLines({ [key]: example }))),
  ];
}

function yamlLines(value: Record<string, unknown>): string[] {
  return stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
}

function commented(lines: readonly string[]): string[] {
  return lines.map((line) => `# ${line}`);
}

function keysOf({ properties = {} }: JsonSchema): [name: string, JsonSchema][] {
  return Object.entries(properties).flatMap(([name, schema]) => (typeof schema === 'object' ? [[name, schema]] : []));
}
