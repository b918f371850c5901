import { z } from 'zod';
import { askRows } from '../../answers/query/ask-rows.js';
import type { Reader } from '../../answers/query/reader.js';
import type { WebsiteStatus } from '../../answers/status/website-status.js';
import type { Config } from '../../base/config/schema.js';
import { markersOf } from '../../warehouse/log/markers.js';
import { conditionOf, type Kind, type Notice, overNotice, partsOf } from './notice.js';
import { problemsIn, type Snapshot, stillChanged, stillFallen } from './rules.js';

/** A source of which fewer pages are unnamed is not quiet, as `sync/stage/counts` has it. */
const LEAST_QUIET = 5;

export interface OverInput {
  config: Pick<Config, 'notify' | 'views'>;
  /** What a channel was told and is not over. */
  told: readonly [condition: string, fact: string][];
  /** All that is wrong now. */
  notices: readonly Notice[];
  /** What the run found that has just ended; null if none has. */
  ofRun: readonly Notice[] | null;
  websites: readonly WebsiteStatus[];
  /** The newest snapshots of each website, oldest first. */
  recent: readonly Omit<Snapshot, 'website_name'>[];
}

/** What was told and is right again. */
export interface Over {
  of: [condition: string, fact: string];
  /** Null if that is not worth a notice. */
  notice: Notice | null;
}

/** Finds out what is right again of what the channels were told. */
export async function overOf(reader: Reader, input: OverInput): Promise<Over[]> {
  const wrong = new Set(input.notices.map((one) => conditionOf(one)[0]));
  const over: Over[] = [];
  for (const of of input.told) {
    const [condition, fact] = of;
    const { kind, website_id } = partsOf(condition);
    const isOfNone = website_id.startsWith('*');
    const website = input.websites.find((one) => one.website_id === website_id);
    // Of one that is not configured any more, or cannot be read, nothing is known.
    if (wrong.has(condition) || kind === undefined || !(isOfNone || website)) continue;
    if (!(await isRight(reader, input, { kind, fact, website }))) continue;
    over.push({ of, notice: overNotice(condition, fact, website ?? { website_id, website_name: null }) });
  }
  return over;
}

/** Whether it is right again, if the rules do not find it wrong any more. */
async function isRight(
  reader: Reader,
  { config, ofRun, recent }: OverInput,
  { kind, fact, website }: { kind: Kind; fact: string; website: WebsiteStatus | undefined },
): Promise<boolean> {
  const newest = recent.findLast(({ website_id }) => website_id === website?.website_id);
  switch (kind) {
    case 'failed':
      return website ? website.last_run?.outcome === 'committed' && website.last_run.run_id > fact : ofRun !== null;
    case 'outage':
    case 'clock':
    case 'lagging':
      // A run that failed as a whole knows nothing of them.
      return ofRun !== null && !ofRun.some((one) => one.kind === 'failed' && one.website_id === null);
    case 'damaged':
      return (website?.last_snapshot?.run_id ?? '') > fact;
    case 'partial':
    case 'reports':
    case 'rejects':
      return newest !== undefined && newest.snapshot_id > fact && !problemsIn(newest).some((one) => one.kind === kind);
    case 'quiet':
      // A later snapshot does not say it again.
      return newest !== undefined && newest.snapshot_id > fact && (await areNamed(reader, fact));
    case 'indexed_drop':
    case 'directory_drop':
    case 'watched':
    case 'robots_blocked':
      return website !== undefined && (await isBack(reader, config, { kind, fact, website }));
    default:
      return true;
  }
}

/** Whether most pages of the sources that went quiet in a snapshot are named again. */
async function areNamed(reader: Reader, snapshot: string): Promise<boolean> {
  const [unnamed] = await askRows(reader, 'app/notify/unnamed_pages', z.object({ pages: z.int() }), { snapshot });
  return (unnamed?.pages ?? 0) < LEAST_QUIET;
}

/** Whether the pages of a notice are what they were before its snapshot. */
async function isBack(
  reader: Reader,
  config: OverInput['config'],
  { kind, fact, website }: { kind: Kind; fact: string; website: WebsiteStatus },
): Promise<boolean> {
  const complete = markersOf(reader.markers, website.website_id).filter(({ listingComplete }) => listingComplete);
  const [before, now] = [complete.findLast(({ snapshotId }) => snapshotId < fact), complete.at(-1)];
  if (!before || !now || now.snapshotId <= fact) return false;
  const of = { website: website.website_id, before: before.snapshotId };
  return kind === 'watched' || kind === 'robots_blocked'
    ? !(await stillChanged(reader, { ...website, snapshot_id: fact }, kind, config))
    : !(await stillFallen(reader, { ...of, after: fact, now: now.snapshotId }));
}
