import { seededRandom } from '../test/given/random.js';

const SECTIONS = 40;
/** Pages of a section take this part of the way to its share each night: 0.3% of all pages change their state. */
const TURNOVER = 0.009;
/** Share of the pages that have impressions, which end with a fall. */
const WITH_TRAFFIC = 0.3;
/** A loss shows after so many nights, and a page that was looked at less long ago is not looked at for it. */
const LOSS_SHOWS = 5;
const LOOKED_AT = 10;
const FOR_REASONS = 0.6;
const REASONS = ['modified', 'traffic_lost', 'changed', 'new'];

/** The columns of the rows of a world. */
export const INSPECTED = 'website_id,page,night,reason,is_indexed';

export interface Scenario {
  pages: number;
  nights: number;
  perNight: number;
  /** Share of the pages of a lively section that are modified in a night; three sections in ten are, others six times less. */
  modified: number;
  newPages: number;
  /** By how much the share of every section changes in a night. */
  drift: number;
  /** Share of the inspections that reasons may take; 0 is plain rotation. */
  forReasons?: number;
  /** Between these nights, falls are followed. */
  falls?: { from: number; to: number };
}

export const STEADY: Scenario = { pages: 20_000, nights: 30, perNight: 500, modified: 0.008, newPages: 0, drift: 0 };

export interface InspectedWorld {
  website: string;
  /** Every inspection, as a line of CSV; one line without a reason for each page of the last listing together. */
  rows: string[];
  /** The share of the pages that is indexed on the last night, and the share of those that were inspected. */
  truth: number;
  plain: number;
  /** Nights until an inspection saw each fall of a page that was known as indexed; infinite if none did. */
  waits: number[];
}

interface Page {
  section: number;
  order: number;
  isIndexed: boolean;
  isNew: boolean;
  hasTraffic: boolean;
  modifiedOn: number;
  fellOn: number;
  inspectedOn: number;
  known: boolean | null;
  isWanted: boolean;
}

/** A website that lives through its nights, and whose pages are inspected as `sql/sync/plan/inspection_plan.sql` plans it. */
export function inspectedWorld(seed: number, scenario: Scenario): InspectedWorld {
  const random = seededRandom(seed * 7919);
  const shares = Array.from({ length: SECTIONS }, random);
  const lively = shares.map(() => random() < 0.3);
  const website = `world-${seed}`;
  const rows: string[] = [];
  const waits: number[] = [];
  const newPage = (isNew: boolean): Page => {
    const section = Math.floor(random() * SECTIONS);
    const isIndexed = !isNew && random() < (shares[section] ?? 0);
    const unknown = { modifiedOn: -1, fellOn: -1, inspectedOn: -1, known: null, isWanted: false };
    return { section, order: random(), isIndexed, isNew, hasTraffic: random() < WITH_TRAFFIC, ...unknown };
  };
  const pages = Array.from({ length: scenario.pages }, () => newPage(false));
  for (let night = 0; night < scenario.nights; night++) {
    for (const page of pages) {
      const share = Math.min(1, Math.max(0, (shares[page.section] ?? 0) + night * scenario.drift));
      live(page, { night, share, modified: lively[page.section] ? scenario.modified : scenario.modified / 6, random });
    }
    if (night > 0) pages.push(...Array.from({ length: scenario.newPages }, () => newPage(true)));
    for (const [at, reason] of planned(pages, night, scenario)) {
      const page = pages[at];
      if (!page) continue;
      if (isFollowed(page, scenario)) waits.push(night - page.fellOn);
      page.isWanted = page.known !== null && page.known !== page.isIndexed;
      page.known = page.isIndexed;
      page.inspectedOn = night;
      rows.push(`${website},${at},${night},${reason},${page.isIndexed}`);
    }
  }
  rows.push(`${website},${pages.length},${scenario.nights - 1},,`);
  waits.push(...pages.filter((page) => isFollowed(page, scenario)).map(() => Number.POSITIVE_INFINITY));
  const seen = pages.filter(({ known }) => known !== null);
  return {
    website,
    rows,
    truth: pages.filter(({ isIndexed }) => isIndexed).length / pages.length,
    plain: seen.filter(({ known }) => known).length / seen.length,
    waits,
  };
}

function isFollowed({ known, isIndexed, fellOn }: Page, { falls }: Scenario): boolean {
  return falls !== undefined && known === true && !isIndexed && fellOn >= falls.from && fellOn < falls.to;
}

function live(
  page: Page,
  { night, share, modified, random }: { night: number; share: number; modified: number; random: () => number },
): void {
  if (random() < TURNOVER * (page.isIndexed ? 1 - share : share)) {
    page.isIndexed = !page.isIndexed;
    page.fellOn = page.isIndexed ? -1 : night;
  }
  if (night > 0 && random() < modified) page.modifiedOn = night;
}

/** The pages to inspect, with the reason. */
function planned(
  pages: readonly Page[],
  night: number,
  { perNight, forReasons = FOR_REASONS }: Scenario,
): [page: number, reason: string][] {
  const reasons = pages.flatMap((page, at): [number, string][] => {
    const reason = reasonOf(page, night);
    return reason === null ? [] : [[at, reason]];
  });
  const isFirst = ([at, reason]: [number, string]) => reason === 'modified' || pages[at]?.inspectedOn === -1;
  const orderOf = (at: number) => pages[at]?.order ?? 0;
  const reasoned = reasons
    .sort(
      (one, other) =>
        Number(isFirst(other)) - Number(isFirst(one)) ||
        REASONS.indexOf(one[1]) - REASONS.indexOf(other[1]) ||
        orderOf(one[0]) - orderOf(other[0]),
    )
    .slice(0, forReasons * perNight);
  const taken = new Set(reasoned.map(([at]) => at));
  const oldest = [...pages.keys()]
    .filter((at) => !taken.has(at))
    .sort(
      (one, other) =>
        (pages[one]?.inspectedOn ?? 0) - (pages[other]?.inspectedOn ?? 0) || orderOf(one) - orderOf(other),
    );
  return [...reasoned, ...oldest.slice(0, perNight - reasoned.length).map((at): [number, string] => [at, 'oldest'])];
}

/** As `sql/sync/plan/inspection_candidates.sql` has it. */
function reasonOf({ inspectedOn: last, ...page }: Page, night: number): string | null {
  if (last >= 0 && page.modifiedOn > last) return 'modified';
  if (last < 0) return page.isNew ? 'new' : null;
  if (page.isWanted) return 'changed';
  const isLost = page.hasTraffic && page.known === true && page.fellOn >= 0 && page.fellOn > last - LOSS_SHOWS;
  return isLost && night - page.fellOn >= LOSS_SHOWS && night - last > LOOKED_AT ? 'traffic_lost' : null;
}
