import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Receipt, WebsiteReceipt } from '../../src/run/receipt.js';
import { type Ended, run } from './cli.js';
import { writeConfig } from './config-file.js';
import { temporaryFolder } from './folder.js';
import { type OddService, type OddWebsite, startOddService } from './odd-service.js';
import { type Row, readTable } from './parquet.js';
import { givenSchemas } from './warehouse.js';

export const TOKEN = 'tok-7Kf9-secret-value-0123456789';
const QUICK = { page_size: 3, max_attempts: 2, timeout: '60s', concurrency: 4 };

/** One sync of the websites of an odd service, as a real process. */
export class OddSync {
  folder = '';
  ended: Ended = { code: null, signal: null, stdout: '', stderr: '' };
  receipt: Receipt = { run_id: null, websites: [], followers: [] };
  readonly #clean: (() => void)[] = [];
  #service: OddService | null = null;

  async start(websites: Record<string, OddWebsite | null>, sections: Record<string, Record<string, unknown>> = {}) {
    this.folder = temporaryFolder((clean) => this.#clean.push(clean));
    const known = Object.entries(websites).flatMap(([id, website]) => (website ? [[id, website] as const] : []));
    this.#service = await startOddService(Object.fromEntries(known));
    const file = writeConfig(this.folder, {
      baseUrl: this.#service.url,
      token: TOKEN,
      websites: Object.keys(websites),
      sections: { ...sections, api: { ...QUICK, ...sections['api'] } },
    });
    await givenSchemas(join(this.folder, 'warehouse'));
    this.ended = await run(['sync', '--json', '--config', file]);
    this.receipt = JSON.parse(this.ended.stdout);
  }

  get requests(): string[] {
    return this.#service?.requests ?? [];
  }

  of(id: string): WebsiteReceipt | undefined {
    return this.receipt.websites.find(({ website_id }) => website_id === id);
  }

  async rows(table: Parameters<typeof readTable>[1], id: string): Promise<Row[]> {
    return (await readTable(join(this.folder, 'warehouse'), table)).filter((row) => row['website_id'] === id);
  }

  async stop() {
    await this.#service?.close();
    for (const clean of this.#clean) clean();
  }
}

/** Every file below a folder. */
export function filesBelow(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return found.filter((file) => statSync(file).isFile());
}
