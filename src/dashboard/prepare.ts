import type { LiveReader } from '../store/live-reader.js';
import type { Marker } from '../warehouse/markers.js';
import type { WebsiteContext } from './context.js';
import { changesPage } from './pages/changes.js';
import { comparePage } from './pages/compare.js';
import { overviewPage } from './pages/overview.js';
import { pagesPage } from './pages/pages.js';

/** The pages with their parameters, in the order in which people look at them. */
const PREPARED = [
  { page: overviewPage, query: {} },
  { page: changesPage, query: {} },
  { page: pagesPage, query: {} },
  { page: comparePage, query: {} },
  ...['1', '30', '90'].map((days) => ({ page: overviewPage, query: { days } })),
];
/** The pages of further websites are made when somebody opens them. */
const MOST_WEBSITES = 20;
/** A busy machine may not answer a question within its time limit. */
const MOST_TRIES = 3;
const NOBODY = {
  _id: 'prepared',
  api_key_label: '',
  account: { _id: '', email: '' },
  websites_access: [],
};

/** After each commit, makes the pages that people open first, because those of a large website take seconds. */
export class Preparation {
  #markers: readonly Marker[] | null = null;
  #triesLeft = 0;
  #isBusy = false;

  constructor(private readonly reader: Pick<LiveReader, 'ask' | 'markers' | 'websites'>) {}

  /**
   * Prepares what is new since the last time, one question at a time, so that visitors' questions run beside it. What
   * fails is tried again the next times; whoever opens such a page sees why it fails.
   */
  async prepare(signal: AbortSignal): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      const markers = await this.reader.markers();
      if (markers !== this.#markers) this.#triesLeft = MOST_TRIES;
      this.#markers = markers;
      if (this.#triesLeft === 0) return;
      this.#triesLeft -= 1;
      let hasFailed = false;
      for (const website of (await this.reader.websites()).slice(0, MOST_WEBSITES)) {
        for (const { page, query } of PREPARED) {
          signal.throwIfAborted();
          await page(this.#contextOf(website, query, signal)).catch(() => {
            hasFailed = true;
          });
        }
      }
      if (!hasFailed) this.#triesLeft = 0;
    } finally {
      this.#isBusy = false;
    }
  }

  #contextOf(website: WebsiteContext['website'], query: object, signal: AbortSignal): WebsiteContext {
    return {
      base: '',
      key: NOBODY,
      query,
      now: 0,
      age: null,
      website,
      websites: () => this.reader.websites(),
      markers: () => this.reader.markers(),
      ask: (question) => this.reader.ask({ keyId: NOBODY._id, signal }, 'slow', question),
    };
  }
}
