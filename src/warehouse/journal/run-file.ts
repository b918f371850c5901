import { rename, rm } from 'node:fs/promises';
import { uptime } from 'node:os';
import { z } from 'zod';
import { messageOf } from '../../base/exit.js';
import type { Logger } from '../../base/observe/log.js';
import { isDiskFull } from '../../base/storage/disk-error.js';
import { readJson, writeJson } from '../../base/storage/json-file.js';
import { idProblem } from '../../base/storage/names.js';
import { SECOND_MS } from '../../base/time.js';

const time = z.iso.datetime();

const waiting = z.object({
  /** What for, such as `the service`. */
  for: z.string(),
  error: z.string(),
  since: time,
  /** When it tries again. */
  until: time,
});
/** What a run waits for. */
export type Waiting = z.infer<typeof waiting>;

const runFile = z.object({
  started_at: time,
  waiting: waiting.nullable(),
  /** Whether the run recorded how it ended. */
  has_ended: z.boolean().default(true),
  /** Why it stopped before its end. */
  stopped: z.string().nullable(),
  /** What is doubtful about the clock. */
  clock: z.string().nullable(),
  /** Why websites got no snapshot, by their ids; under `*` why none did. */
  failed: z.record(z.string(), z.object({ run_id: z.string(), error: z.string() })),
});
/** What the newest run is doing, or how it ended, beyond what its journals and the log say. */
export type RunFileContent = z.infer<typeof runFile>;

/** A failure of no website in particular. */
export const NO_WEBSITE = '*';

/**
 * What the newest run has written; null before the first one, or if the file is damaged. If the newest one could not write
 * it, what the one before has written, as if it had not ended.
 */
export async function readRunFile(file: string): Promise<RunFileContent | null> {
  const written = await readJson(file, runFile).catch(() => null);
  if (written) return written;
  const before = await readJson(unrecorded(file), runFile).catch(() => null);
  return before && { ...before, has_ended: false };
}

/** What the file is called once a later run could not write it. Renaming takes no space, so it works on a full disk. */
function unrecorded(file: string): string {
  return `${file}.unrecorded`;
}

/**
 * Why it is unknown how the newest run ended, while none is in progress; null if it is known.
 *
 * @param hasJournals whether journals show a run that is not finished, which says more
 */
export function unrecordedText(content: RunFileContent | null, hasJournals: boolean): string | null {
  if (content === null || content.has_ended || hasJournals) return null;
  return 'the last run could not record how it ended: it was killed, or the disk is full; run `indexhouse sync` again';
}

/**
 * Why a run stopped whose journal is still there.
 *
 * @param lastActivity of the journal, in milliseconds since 1970
 */
export function stopReason(
  content: RunFileContent | null,
  { runId, websiteId, lastActivity }: { runId: string; websiteId: string; lastActivity: number },
): string {
  const failed = content?.failed[websiteId];
  if (failed?.run_id === runId) return isDiskFull(new Error(failed.error)) ? 'the disk was full' : 'it failed';
  if (content?.stopped && Date.parse(content.started_at) <= lastActivity) return content.stopped;
  const bootedAt = Date.now() - uptime() * SECOND_MS;
  return lastActivity < bootedAt ? 'the machine was restarted' : 'its process was killed or crashed';
}

/** The file in which a run lets other processes know what no journal holds. If it cannot be written, the run goes on. */
export class RunFile {
  #content: RunFileContent;
  #written: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: string,
    private readonly logger: Logger,
    /** What the run before has left. */
    readonly before: RunFileContent | null,
    startedAt: number,
  ) {
    const started_at = new Date(startedAt).toISOString();
    this.#content = {
      started_at,
      waiting: null,
      has_ended: false,
      stopped: null,
      clock: before?.clock ?? null,
      failed: before?.failed ?? {},
    };
  }

  /** @param startedAt milliseconds since 1970 */
  static async begin(file: string, logger: Logger, startedAt: number): Promise<RunFile> {
    const begun = new RunFile(file, logger, await readRunFile(file), startedAt);
    await begun.#write({});
    return begun;
  }

  /** @param waiting null: it does not wait any more */
  async waits(waiting: Waiting | null): Promise<void> {
    if (waiting !== null || this.#content.waiting !== null) await this.#write({ waiting });
  }

  /**
   * Records how the run ended.
   *
   * @param end why it stopped, and what is doubtful about the clock
   * @param failed the reasons of websites that got no snapshot; null for those that did
   */
  async ends(
    { stopped = null, clock = null }: Partial<Pick<RunFileContent, 'stopped' | 'clock'>>,
    failed: Record<string, { run_id: string; error: string } | null>,
  ): Promise<void> {
    // No later run of such a website could end its failure.
    const before = Object.entries(this.#content.failed).filter(([id]) => idProblem(id) === null);
    const all = Object.entries({ ...Object.fromEntries(before), ...failed });
    const left = Object.fromEntries(all.flatMap(([id, failure]) => (failure ? [[id, failure]] : [])));
    await this.#write({ waiting: null, has_ended: true, stopped, clock, failed: left });
  }

  /** One after the other, so that the newest content is the last to be written. */
  #write(change: Partial<RunFileContent>): Promise<void> {
    const content = { ...this.#content, ...change };
    this.#content = content;
    this.#written = this.#written
      .then(() => writeJson(this.file, content))
      .then(() => rm(unrecorded(this.file), { force: true }))
      .catch(async (error) => {
        this.logger.warn(`cannot record how the run is doing: ${messageOf(error)}`);
        // The file of the run before would say that all is well.
        await rename(this.file, unrecorded(this.file)).catch(() => {});
      });
    return this.#written;
  }
}
