import type { Config } from '../base/config/schema.js';
import type { Website } from '../base/config/websites.js';
import type { Client, Purpose } from './client.js';
import { listingPath, reportPath } from './links.js';
import { judgeReport, outcomeOf, type ReportOutcome } from './report.js';
import type { ListingSink, Page, Source } from './source.js';
import { type WalkResult, walkListing } from './walk/walk.js';
import type { Interrupted } from './walk/walk-state.js';

/** A website of the service, as its API shows it to one key. */
export class ApiSource implements Source {
  readonly byInspection = false;

  constructor(
    private readonly website: Website,
    readonly client: Client,
    readonly limits: Config['api'],
    private readonly now: () => number,
  ) {}

  list({ purpose, answered, ...sink }: ListingSink, from: Interrupted | undefined): Promise<WalkResult> {
    const { website, limits } = this;
    const get = (path: string) => this.client.send({ path }, purpose).finally(answered);
    return walkListing({ ...sink, website, pageSize: limits.page_size, now: this.now, get }, from);
  }

  async report({ url }: Page, purpose: Purpose): Promise<ReportOutcome> {
    let text: string;
    try {
      text = await this.client.send({ path: reportPath(url) }, purpose);
    } catch (error) {
      return outcomeOf(error);
    }
    const judged = judgeReport(text, url);
    return judged.outcome === 'rejected' ? { ...judged, payload: this.client.redact(judged.payload) } : judged;
  }

  probe(purpose: Purpose): Promise<string> {
    return this.client.send({ path: listingPath(this.website.id, 0, 1) }, purpose);
  }

  async quotas(): Promise<null> {
    return null;
  }
}
