import { moment } from '../base/observe/format.js';
import { crashPoint } from '../base/storage/crash-point.js';
import { lowDiskText } from '../base/storage/free-disk.js';
import { sql } from '../base/storage/sql.js';
import { MINUTE_MS } from '../base/time.js';
import type { Purpose } from '../source/client.js';
import { SourceError, TooLate } from '../source/errors.js';
import type { Page, ReportOutcome } from '../source/source.js';
import {
  type PendingPage,
  type Planned,
  type PlannedPage,
  type ReportsLeft,
  type ReportsStatus,
  readPlan,
  readReports,
  totalOf,
} from '../warehouse/journal/plan.js';
import { type Before, deadlineOf, type FetchedReports, type WebsiteRun } from './context.js';
import { ReportsJournal } from './journal/write-reports.js';
import { ReportsDown } from './outage.js';
import { pageAnsweredBefore } from './plan-reports.js';

/** This many rejects in a row for the same reason mean that the API has changed, not that records are bad. */
const EQUAL_REJECTS = 50;
/** After this many failed reports in a row, another request finds out whether the service is down. */
const FAILED_IN_A_ROW = 3;
/** If no report was ever answered, this many failures in a row are not the pages' fault. */
const FAILED_FROM_THE_START = 12;
/** As many refused reports in a row (401, 403) are not the pages' fault: fetching pauses once, then ends. */
const REFUSED_IN_A_ROW = 12;
const REFUSED_PAUSE_MS = MINUTE_MS;
const DISK_CHECK_INTERVAL_MS = 2_000;

/**
 * Fetches the planned reports into the journal, `concurrency` at a time, until the plan is done, the deadline comes or
 * the disk is full. Reports that the journal already holds are not requested again.
 *
 * @throws Stopped; SourceError during an outage that is waited for; Error when the journal cannot be written
 */
export async function fetchReports(run: WebsiteRun, planned: Planned, before: Before): Promise<FetchedReports> {
  const left = await readReports(run.folder);
  const reused = totalOf(left.counts);
  run.requests.sent += left.lines - left.counts.unconfirmed;
  const { wanted, quotas, evidence } = planned;
  if (left.done) return { ...left.done, reused, wanted, quotas, evidence, counts: left.counts };
  const journal = new ReportsJournal(run.folder, left);
  try {
    run.progress.planned(run.website, planned.planned, left.counts);
    const pages = await pagesLeft(run, planned, left);
    // Frees DuckDB's memory, because fetching may take all night.
    await run.journal.rest();
    const end = await new ReportFetch(run, journal, before).fetch(pages);
    if (end.cause && run.outage.isWaitedFor(end.cause, deadlineOf(run), run.website)) throw end.cause;
    const status = end.status === 'complete' ? statusOf(planned) : end.status;
    await journal.finish(status, end.message, new Date(run.effects.now()));
    crashPoint('fetched');
    const refused = run.source.refusal?.properties ?? [];
    const open = quotas?.filter(({ property }) => !refused.includes(property));
    return { status, message: end.message, reused, wanted, quotas: open, evidence, counts: journal.counts };
  } finally {
    journal.close();
  }
}

function statusOf({ planned, wanted }: Planned): ReportsStatus {
  if (wanted === null) return 'off';
  return planned < wanted ? 'budget' : 'complete';
}

/** The pages still to fetch; null if nothing is planned, because then there is no plan file. */
async function pagesLeft(run: WebsiteRun, { planned }: Planned, left: ReportsLeft): Promise<Pages | null> {
  if (planned === 0) return null;
  if (left.lines === 0) return readPlan(run.folder.plan);
  await run.journal.use(null, async (engine) => {
    await engine.set({ plan_file: run.folder.plan });
    await engine.copy(sql('sync/plan/remaining_plan'), run.folder.remaining, 'format json');
  });
  return readPlan(run.folder.remaining);
}

type Pages = ReturnType<typeof readPlan>;
type End = Pick<FetchedReports, 'status' | 'message'> & { cause?: Error };

/** What made several reports in a row fail. */
type Blame = 'pages' | 'reports' | 'service' | 'refusal' | 'unknown';

class ReportFetch {
  readonly #deadline: number;
  readonly #purpose: Purpose;
  readonly #purposeOnce: Purpose;
  #end: End | null = null;
  #diskCheckedAt = 0;
  #equalRejects = { reason: '', count: 0 };
  /** Reports that failed since the last answer: because of their pages, or of an outage. */
  #doubtful: [page: PlannedPage, outcome: ReportOutcome][] = [];
  /** When the first of them failed, in milliseconds since 1970. */
  #doubtedAt = 0;
  /** A page whose report was answered before, in this run or an earlier one. */
  #witness: Page | null | undefined;
  /** Whether fetching has paused, because they were refused. */
  #hasPaused = false;
  /** The pending request that finds out what made them fail. */
  #probe: Promise<Blame> | null = null;
  /** Whether pages were left for another day, because the day's quota is spent. */
  #isSpent = false;
  /** Pages that were read from the plan and not requested yet. */
  #ahead: PlannedPage[] = [];
  /** Pages whose inspection was refused once, which is often not their fault: they come again at the end. */
  readonly #refused: PlannedPage[] = [];

  constructor(
    private readonly run: WebsiteRun,
    private readonly journal: ReportsJournal,
    private readonly before: Before,
  ) {
    this.#deadline = deadlineOf(run);
    this.#purpose = { lane: run.website.id, counts: run.requests, notAfter: this.#deadline };
    this.#purposeOnce = { ...this.#purpose, attempts: 1 };
  }

  /** Workers take the pages one by one, so that memory does not grow with the plan. */
  async fetch(pages: Pages | null): Promise<End> {
    // Before the first request, because the disk may be full already.
    await this.#checkLimits();
    if (pages && !this.#end) await this.#checkOutage(pages);
    if (pages) await this.#fetchAll(pages);
    await this.#confirm();
    const refusal = this.run.source.refusal?.message;
    if (refusal) this.#end ??= { status: 'failed', message: refusal };
    return this.#end ?? { status: this.#isSpent ? 'budget' : 'complete', message: null };
  }

  async #fetchAll(pages: Pages): Promise<void> {
    const workers = Array.from({ length: this.run.source.limits.concurrency }, () => this.#work(pages));
    const ended = await Promise.allSettled(workers);
    await pages.return(undefined);
    if (!this.#end?.cause) await this.#settle();
    const broken = ended.find((worker) => worker.status === 'rejected');
    if (broken) throw broken.reason;
  }

  async #work(pages: Pages): Promise<void> {
    const { source, clock } = this.run;
    try {
      for (;;) {
        if (this.#isCheckDue) await this.#checkLimits();
        if (this.#end) return;
        const planned = this.#ahead.shift() ?? (await pages.next()).value;
        const page = planned ?? this.#refused.shift();
        if (!page) return;
        const purpose = this.#doubtful.length >= FAILED_IN_A_ROW ? this.#purposeOnce : this.#purpose;
        const outcome = await source.report(page, purpose).finally(() => clock.check(this.run));
        if (outcome === null) this.#isSpent = true;
        else if (this.#isDoubtful(outcome)) await this.#doubt(page, outcome);
        else if (planned && source.byInspection && outcome.outcome === 'failed' && outcome.status === 403) {
          this.#refused.push(page);
        } else {
          if (this.#doubtful.length > 0) await this.#settle();
          await this.#record(page, outcome);
        }
      }
    } catch (error) {
      this.#endAfter(error);
    }
  }

  /**
   * Asks again for pages that look as if they fell, one after the other: many at once are sometimes answered wrongly. Each
   * round comes after a longer pause.
   */
  async #confirm(): Promise<void> {
    const { effects, limits, signal } = this.run;
    const { pauses, between } = limits.confirmation;
    for (const pause of pauses) {
      const pages = [...this.journal.pending.values()];
      if (this.#end || pages.length === 0 || effects.now() + pause >= this.#deadline) return;
      await effects.sleep(pause, signal);
      for (const page of pages) if (await this.#lookAgain(page)) await effects.sleep(between, signal);
    }
  }

  /** A failure leaves the page to the next round. @returns whether it was asked for */
  async #lookAgain(page: PendingPage): Promise<boolean> {
    try {
      if (this.#isCheckDue) await this.#checkLimits();
      const outcome = this.#end ? null : await this.run.source.report(page, this.#purpose);
      if (outcome?.outcome === 'fetched' || outcome?.outcome === 'unconfirmed') await this.#record(page, outcome);
      return outcome !== null;
    } catch (error) {
      this.#endAfter(error);
      return false;
    }
  }

  /**
   * During an outage, one report shows whether it is over. Each wait tries another page, because a single page may be the
   * reason.
   */
  async #checkOutage(pages: Pages): Promise<void> {
    const { outage, website, source } = this.run;
    const known = outage.ofService(website);
    if (!known) return;
    for (let skip = known.waits * FAILED_FROM_THE_START; skip >= 0; skip--) {
      const { value: next } = await pages.next();
      if (next) this.#ahead.push(next);
    }
    const page = this.#ahead.pop();
    if (!page) return;
    try {
      const outcome = await source.report(page, this.#purposeOnce);
      if (outcome === null) this.#isSpent = true;
      else if (isTransient(outcome)) this.#endBecause(known.kind, outcome.message, known.since);
      else {
        outage.over('reports', website);
        await this.#record(page, outcome);
      }
    } catch (error) {
      this.#endAfter(error);
    }
  }

  /**
   * Several failures in a row are an outage if a report that was answered before fails, too: of the reports alone if the
   * listing is answered, else of the service. Refusals are, if that report is still refused after a pause: a firewall
   * blocks. Then none of the failures is recorded, and each report is requested again.
   */
  async #doubt(page: PlannedPage, outcome: ReportOutcome & { outcome: 'failed' }): Promise<void> {
    if (this.#doubtful.length === 0) this.#doubtedAt = this.run.effects.now();
    this.#doubtful.push([page, outcome]);
    const enough = isRefusal(outcome) ? REFUSED_IN_A_ROW * (this.#hasPaused ? 2 : 1) : FAILED_IN_A_ROW;
    if (this.#doubtful.length < enough || this.#end) return;
    // One probe is enough for all workers that fail meanwhile.
    this.#probe ??= this.#whoIsToBlame(outcome).finally(() => {
      this.#probe = null;
    });
    const blame = await this.#probe;
    if (blame === 'pages') await this.#settle();
    else if (blame === 'refusal') this.#endRefused(outcome.message);
    else if (blame !== 'unknown') this.#endBecause(blame, outcome.message, this.#doubtedAt);
  }

  async #whoIsToBlame(failed: ReportOutcome): Promise<Blame> {
    const { source, effects, signal } = this.run;
    if (this.#witness === undefined) {
      this.#witness = await pageAnsweredBefore(this.run, this.before);
      await this.run.journal.rest();
    }
    const asked = this.#witness ? await source.report(this.#witness, this.#purpose) : undefined;
    if (asked !== undefined && !(asked && this.#isDoubtful(asked))) return 'pages';
    if (isRefusal(asked ?? failed)) {
      if (this.#hasPaused) return 'refusal';
      this.#hasPaused = true;
      await effects.sleep(REFUSED_PAUSE_MS, signal);
      return 'unknown';
    }
    try {
      await source.probe(this.#purpose);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.retryable) return 'service';
    }
    return this.#witness || this.#doubtful.length >= FAILED_FROM_THE_START ? 'reports' : 'unknown';
  }

  /** Whether the failure may not be that of the page. Search Console's client judges refusals itself. */
  #isDoubtful(outcome: ReportOutcome): outcome is ReportOutcome & { outcome: 'failed' } {
    return isTransient(outcome) || (isRefusal(outcome) && !this.run.source.byInspection);
  }

  #endBecause(kind: 'service' | 'reports', message: string, since: number): void {
    const Cause = kind === 'reports' ? ReportsDown : SourceError;
    const cause = new Cause('server', message);
    const stopped = `the reports stopped, because none was answered since ${moment(since)}`;
    this.#end ??= { status: 'failed', message: `${stopped}: ${message}`, cause };
  }

  #endRefused(message: string): void {
    const stopped = `the reports stopped, because ${this.#doubtful.length} in a row were refused since ${moment(this.#doubtedAt)}, also after a pause: ${message}`;
    this.#end ??= { status: 'failed', message: stopped, cause: new SourceError('forbidden', stopped) };
  }

  /** Records the failures as those of their pages. */
  async #settle(): Promise<void> {
    this.#hasPaused = false;
    for (const [page, outcome] of this.#doubtful.splice(0)) await this.#record(page, outcome);
  }

  async #record(page: PlannedPage, outcome: ReportOutcome): Promise<void> {
    const { effects, progress } = this.run;
    if (outcome.outcome === 'fetched') this.#witness = page;
    await this.journal.record(page, outcome, new Date(effects.now()));
    if (outcome.outcome !== 'unconfirmed') progress.ended(this.run, outcome.outcome === 'failed');
    this.#countRejects(outcome);
  }

  /** Ends the fetch for all workers, because they would fail the same way. */
  #endAfter(error: unknown): void {
    if (error instanceof TooLate) {
      this.#end ??= { status: 'deadline', message: 'reports.deadline comes before the key may send its next request' };
    } else if (error instanceof SourceError) {
      this.#end = { status: 'failed', message: `the reports stopped: ${error.message}`, cause: error };
    } else {
      this.#end ??= { status: 'failed', message: String(error) };
      throw error;
    }
  }

  /** Cheap, because it is called for each page. */
  get #isCheckDue(): boolean {
    const now = this.run.effects.now();
    return now >= this.#deadline || now - this.#diskCheckedAt >= DISK_CHECK_INTERVAL_MS;
  }

  async #checkLimits(): Promise<void> {
    const { effects, warehouse } = this.run;
    const now = effects.now();
    if (now >= this.#deadline) {
      // To a clock that is ahead, every deadline has passed.
      await this.run.clock.confirm(this.run);
      this.#end ??= { status: 'deadline', message: 'reports.deadline was reached' };
    }
    if (now - this.#diskCheckedAt < DISK_CHECK_INTERVAL_MS) return;
    this.#diskCheckedAt = now;
    const message = lowDiskText(await effects.diskOf(warehouse));
    if (message !== null) this.#end ??= { status: 'interrupted', message, cause: new Error(message) };
  }

  #countRejects(outcome: ReportOutcome): void {
    const issue = outcome.outcome === 'rejected' ? outcome.issues[0] : undefined;
    const reason = issue ? `${issue.code} ${issue.path}` : '';
    const isAgain = reason !== '' && reason === this.#equalRejects.reason;
    this.#equalRejects = { reason, count: isAgain ? this.#equalRejects.count + 1 : 1 };
    if (!issue || this.#equalRejects.count < EQUAL_REJECTS) return;
    const what = `${issue.path ? `${issue.path}: ` : ''}${issue.message}`;
    this.#end ??= {
      status: 'failed',
      message: `${EQUAL_REJECTS} reports in a row were rejected for the same reason (${what}): the API seems to have changed`,
    };
  }
}

/** Whether the service refused a report, perhaps all of them. */
function isRefusal(outcome: ReportOutcome): boolean {
  return outcome.outcome === 'failed' && (outcome.status === 401 || outcome.status === 403);
}

/** Whether a later retry may help. */
function isTransient(outcome: ReportOutcome): outcome is ReportOutcome & { outcome: 'failed' } {
  if (outcome.outcome !== 'failed') return false;
  return outcome.status === null || outcome.status === 429 || outcome.status >= 500;
}
