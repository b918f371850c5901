import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { type GivenBucket, startBucket } from '../../given/bucket.js';
import { page } from '../../given/bucket-copy.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { readTable } from '../../given/parquet.js';
import { type ScriptedService, startService } from '../../given/service.js';

let server: GivenBucket;
let service: ScriptedService;
let nights = 0;

/** An empty bucket and a service for each test. */
export function givenServers() {
  beforeEach(async () => {
    [server, service] = await Promise.all([startBucket(), startService()]);
    service.list('shop', [page('p'), page('q')]);
  });
  afterEach(() => Promise.all([server.close(), service.close()]));
  return {
    get bucket() {
      return server;
    },
    /** What the service was asked. */
    get requests() {
      return service.requests;
    },
  };
}

/** Machines share nothing but the bucket. */
export class Machine {
  readonly folder = temporaryFolder();
  readonly warehouse = join(this.folder, 'warehouse');
  readonly config = writeConfig(this.folder, {
    baseUrl: service.url,
    websites: ['shop'],
    sections: { bucket: server.url, reports: { max_per_run: 0 } },
  });

  async run(command: string): Promise<{ code: number; text: string }> {
    const { code, stdout, stderr } = await run([...command.split(' '), '--config', this.config]);
    return { code: code ?? -1, text: stdout + stderr };
  }

  /** A night in which a page changes, so that commits that follow from the wrong state show. */
  async night(): Promise<{ code: number; text: string }> {
    nights++;
    service.list('shop', [page('p', nights % 2 === 0 ? 'Indexed' : 'Not indexed'), page(`new-${nights}`)]);
    return this.run('sync');
  }

  /** Each of these ends well; `night` is one. */
  async does(...commands: string[]): Promise<void> {
    for (const one of commands) {
      const { code, text } = await (one === 'night' ? this.night() : this.run(one));
      expect([one, code], text).toEqual([one, 0]);
    }
  }

  async ids(): Promise<unknown[]> {
    return (await readTable(this.warehouse, 'snapshots')).map(({ snapshot_id }) => snapshot_id).sort();
  }

  async expectWhole(snapshots: number): Promise<void> {
    expect(await this.run('verify')).toMatchObject({ code: 0 });
    expect(markers().sort()).toEqual(await this.ids());
    expect(markers()).toHaveLength(snapshots);
  }
}

/** Ids of the snapshots in the bucket. */
export const markers = () =>
  [...server.objects.keys()].flatMap((key) => /^parquet\/snapshots\/.*\/(.*)\.parquet$/.exec(key)?.[1] ?? []);
export const refused = {
  code: 1,
  text: expect.stringMatching(/belongs to .* since .*`indexhouse restore --take-over`/),
};
export const lags = (text: string) => ({ code: 3, text: expect.stringContaining(text) });
