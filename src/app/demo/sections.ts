import type { SearchConsole } from './search-console/search-console.js';
import type { Simulator } from './simulator/simulator.js';

/** What an `indexhouse.yaml` says of a simulated service and its websites. */
export function apiSections({ url, world }: Simulator, token: string, requestsPerMinute: number | 'unlimited'): string {
  return `api:
  base_url: ${url}
  token: ${JSON.stringify(token)}
  requests_per_minute: ${requestsPerMinute}
websites:
${world.websites.map(({ id, domain }) => `  - id: ${JSON.stringify(id)}\n    name: ${domain}\n`).join('')}`;
}

/** The same of a simulated Search Console. */
export function googleSections({ url, world }: SearchConsole, credentials: string, inspectionsPerDay: number): string {
  const entryOf = (domain: string) =>
    `  - id: "sc-domain:${domain}"\n    source: google\n    inspections_per_day: ${inspectionsPerDay}\n`;
  return `google:
  credentials: ${credentials}
  endpoint: ${url}
websites:
${world.websites.map(({ domain }) => entryOf(domain)).join('')}`;
}
