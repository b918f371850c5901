import type { Progress } from '../observe/progress.js';
import type { Website } from './context.js';

/**
 * The progress of all websites of a run as one line: first the pages that are listed, then the reports. Websites run
 * side by side, so the figures are sums.
 */
export class RunProgress {
  readonly #totals = { pages: new Map<string, number>(), reports: new Map<string, number>() };
  #phase: 'pages' | 'reports' | null = null;

  constructor(private readonly progress: Progress | null) {}

  /** Pages of a window that was accepted, of how many the service counts. */
  listed(website: Website, pages: number, expected: number | null): void {
    this.#advance('pages', website, pages, expected);
  }

  /** A website's plan is made; `done` of it are answered already. */
  planned(website: Website, reports: number, done: number): void {
    this.#advance('reports', website, done, reports);
  }

  answered(website: Website, requestsSent: number): void {
    this.progress?.note(
      this.#totals.reports.size > 1 ? `${this.#totals.reports.size} websites` : (website.name ?? website.id),
    );
    this.progress?.advance(1, { requestsSpent: requestsSent });
  }

  /** What is done without requests: staging, committing, following. */
  note(text: string): void {
    this.progress?.note(text);
  }

  finish(): void {
    this.progress?.finish();
    this.#phase = null;
  }

  #advance(phase: 'pages' | 'reports', website: Website, done: number, total: number | null): void {
    const totals = this.#totals[phase];
    if (total !== null) totals.set(website.id, total);
    const sum = totals.size > 0 ? [...totals.values()].reduce((all, each) => all + each, 0) : null;
    // Reports of one website may begin while another is still listed; the line then shows the reports.
    if (this.#phase === 'reports' && phase === 'pages') return;
    if (this.#phase !== phase) this.progress?.start(phase, sum);
    else this.progress?.setTotal(sum);
    this.#phase = phase;
    if (done > 0) this.progress?.advance(done);
  }
}
