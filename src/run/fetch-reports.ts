import { type Planned, type PlannedPage, readPlan } from '../journal/plan.js';
import { ReportsJournal, type ReportsLeft, type ReportsStatus, readReports } from '../journal/reports.js';
import { SourceError, TooLate } from '../source/errors.js';
import { fetchReport, type ReportOutcome } from '../source/report.js';
import { crashPoint } from '../storage/crash-point.js';
import { withEngine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { viewJournal } from '../warehouse/journal-views.js';
import { journalEngine, type WebsiteRun } from './context.js';

/** As many rejects in a row for the same reason mean that the interface has changed, not that records are bad. */
const EQUAL_REJECTS = 50;
const DISK_CHECK_INTERVAL_MS = 2_000;

/** How the fetching of the planned reports ended. */
export interface Fetched {
  status: ReportsStatus;
  /** Why it ended before the plan did. */
  message: string | null;
  /** Answers that an interrupted run had journaled already. */
  reused: number;
  /** Reports that were worth fetching; null where that is not known. */
  wanted: number | null;
}

/**
 * Fetches the planned reports into the journal, `concurrency` at a time, until the plan, the deadline or the disk ends.
 * What the journal holds already is not asked for again.
 *
 * @throws Stopped; Error when the journal cannot be written
 */
export async function fetchReports(run: WebsiteRun, planned: Planned): Promise<Fetched> {
  const left = await readReports(run.folder);
  const reused = Object.values(left.counts).reduce((all, each) => all + each, 0);
  run.requests.sent += reused;
  const { wanted } = planned;
  if (left.done) return { ...left.done, reused, wanted };
  const journal = new ReportsJournal(run.folder, left.bytes);
  try {
    run.progress.planned(run.website, planned.planned, reused);
    const end = await new ReportFetch(run, journal).run(await pagesLeft(run, planned, left));
    const status = end.status === 'complete' ? statusOf(planned) : end.status;
    await journal.finish(status, end.message);
    crashPoint('fetched');
    return { status, message: end.message, reused, wanted };
  } finally {
    journal.close();
  }
}

function statusOf({ planned, wanted }: Planned): ReportsStatus {
  if (wanted === null) return 'off';
  return planned < wanted ? 'budget' : 'complete';
}

async function pagesLeft(
  run: WebsiteRun,
  { planned }: Planned,
  left: ReportsLeft,
): Promise<AsyncIterable<PlannedPage>> {
  if (planned === 0) return none();
  if (left.bytes === 0) return readPlan(run.folder.plan);
  await run.oneAtATime(() =>
    withEngine(journalEngine(run), async (engine) => {
      await viewJournal(engine, run.folder);
      await engine.set({ plan_file: run.folder.plan });
      await engine.copy(sql('plan/remaining_plan'), run.folder.remaining, 'format json');
    }),
  );
  return readPlan(run.folder.remaining);
}

async function* none(): AsyncGenerator<PlannedPage> {}

type End = Pick<Fetched, 'status' | 'message'>;

class ReportFetch {
  readonly #deadline: number;
  #end: End | null = null;
  #diskCheckedAt = 0;
  #equalRejects = { reason: '', count: 0 };

  constructor(
    private readonly run_: WebsiteRun,
    private readonly journal: ReportsJournal,
  ) {
    this.#deadline = Date.parse(run_.header.started_at) + run_.config.reports.deadline;
  }

  /** Workers take the pages one by one, so that no more is under way than the concurrency, however long the plan. */
  async run(pages: AsyncIterable<PlannedPage>): Promise<End> {
    // Before the first of them, so that a disk that is full already takes not even one answer more.
    await this.#checkLimits();
    const queue = pages[Symbol.asyncIterator]();
    const workers = Array.from({ length: this.run_.config.api.concurrency }, () => this.#work(queue));
    const ended = await Promise.allSettled(workers);
    await queue.return?.();
    const broken = ended.find((worker) => worker.status === 'rejected');
    if (broken) throw broken.reason;
    return this.#end ?? { status: 'complete', message: null };
  }

  async #work(queue: AsyncIterator<PlannedPage>): Promise<void> {
    try {
      for (;;) {
        if (this.#isCheckDue) await this.#checkLimits();
        if (this.#end) return;
        const next = await queue.next();
        if (next.done) return;
        await this.#answer(next.value);
      }
    } catch (error) {
      // The others would only go on to meet the same.
      this.#end ??= { status: 'failed', message: String(error) };
      throw error;
    }
  }

  async #answer(page: PlannedPage): Promise<void> {
    const { client, requests, effects, progress, website } = this.run_;
    const purpose = { lane: website.id, counts: requests, notAfter: this.#deadline };
    let outcome: ReportOutcome;
    try {
      outcome = await fetchReport(client, page.url, purpose);
    } catch (error) {
      if (error instanceof TooLate) {
        this.#end ??= { status: 'deadline', message: 'reports.deadline comes before the key may send another request' };
        return;
      }
      if (!(error instanceof SourceError)) throw error;
      this.#end = { status: 'failed', message: error.message };
      return;
    }
    await this.journal.record(page, outcome, new Date(effects.now()));
    progress.answered(this.run_);
    this.#countRejects(outcome);
  }

  /** Cheap enough to be asked for each page. */
  get #isCheckDue(): boolean {
    const now = this.run_.effects.now();
    return now >= this.#deadline || now - this.#diskCheckedAt >= DISK_CHECK_INTERVAL_MS;
  }

  async #checkLimits(): Promise<void> {
    const { effects, config, warehouse } = this.run_;
    const now = effects.now();
    if (now >= this.#deadline) this.#end ??= { status: 'deadline', message: 'reports.deadline was reached' };
    if (now - this.#diskCheckedAt < DISK_CHECK_INTERVAL_MS) return;
    this.#diskCheckedAt = now;
    const free = await effects.freeDisk(warehouse);
    if (free >= config.warehouse.min_free_disk) return;
    const message = `only ${free} bytes are free on the warehouse's disk, less than warehouse.min_free_disk`;
    this.#end ??= { status: 'interrupted', message };
  }

  #countRejects(outcome: ReportOutcome): void {
    const issue = outcome.outcome === 'rejected' ? outcome.issues[0] : undefined;
    const reason = issue ? `${issue.code} ${issue.path}` : '';
    this.#equalRejects = {
      reason,
      count: reason !== '' && reason === this.#equalRejects.reason ? this.#equalRejects.count + 1 : 1,
    };
    if (!issue || this.#equalRejects.count < EQUAL_REJECTS) return;
    const what = `${issue.path ? `${issue.path}: ` : ''}${issue.message}`;
    this.#end ??= {
      status: 'failed',
      message: `${EQUAL_REJECTS} reports in a row were rejected for the same reason (${what}): the interface has changed`,
    };
  }
}
