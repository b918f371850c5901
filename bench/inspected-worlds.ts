import { seededRandom } from '../test/given/random.js';
import { type Known, plannedInspections } from './inspection-model.js';

const SECTIONS = 40;
/** Days of search analytics before the first night, and how many of the last ones may still change. */
const DAYS_BEFORE = 90;
const FINAL_AFTER = 3;
const WINDOW = 90;
/** The chance that an impression of a day that may still change is known already. */
const KNOWN_FRESH = 0.7;
/** Days are stored in a ring. */
const RING = 128;

/** The columns of the inspections of a world, and those of its nights. */
export const INSPECTED = 'website_id,page,night,reason,is_indexed';
export const NIGHTS = 'website_id,night,pages,others,shown,shown_indexed';

export interface Scenario {
  pages: number;
  nights: number;
  perNight: number;
  /** Share of the pages of a lively section that are modified in a night; three sections in ten are, others six times less. */
  modified: number;
  newPages: number;
  /** Pages of a section take this part of the way to its share each night. */
  turnover: number;
  /** The share of the indexed pages that fall out for good each night. */
  loss: number;
  /** The first fifth of the sections is out of the index from one night to another. */
  accident?: { from: number; until: number };
  /** The share of the pages that have impressions while indexed; how many a day is lognormal, with this median and spread. */
  traffic: { share: number; median: number; spread: number };
  /** Each night the pages that were inspected longest ago, and nothing else. */
  isPlain?: boolean;
  /** The first page whose hash is beyond this part of all hashes. */
  placeOf?: (part: number) => number;
  /** Between these nights, falls are followed. */
  falls?: { from: number; to: number };
}

export const STEADY: Scenario = {
  ...{ pages: 20_000, nights: 60, perNight: 500, modified: 0.008, newPages: 0, turnover: 0.009, loss: 0 },
  traffic: { share: 2 / 3, median: 1, spread: 2 },
};

export interface InspectedWorld {
  website: string;
  /** Every inspection, and every night, as a line of CSV. */
  inspections: string[];
  nights: string[];
  /** The share of the pages that is indexed, night by night. */
  truth: number[];
  /** Nights until an inspection saw each fall of a page that was known as indexed; infinite if none did. */
  waits: number[];
  /** The most nights that a page was neither inspected nor shown, as of the nights from `pages / perNight` on. */
  unseen: number;
  /** Inspections by reason, and those because of a silence that found the page indexed. */
  reasons: Record<string, number>;
  falseAlarms: number;
}

/** A website that lives through its nights, and whose pages are inspected as `sql/sync/plan` plans it. */
export function inspectedWorld(
  seed: number,
  scenario: Scenario,
  onPlan?: (night: number, known: Known, plan: readonly (readonly [page: number, reason: string])[]) => void,
): InspectedWorld {
  const random = seededRandom(seed * 7919);
  const most = scenario.pages + scenario.newPages * scenario.nights;
  const shares = Array.from({ length: SECTIONS }, random);
  const lively = shares.map(() => random() < 0.3);
  const section = Uint8Array.from({ length: most }, () => Math.floor(random() * SECTIONS));
  const isIndexed = new Uint8Array(most);
  const wasIndexed = new Uint8Array(most);
  const fellOn = new Int16Array(most).fill(-1);
  const chance = new Float64Array(most);
  const known: Known = {
    pages: scenario.pages,
    firstSeen: new Int16Array(most),
    inspectedOn: new Int16Array(most).fill(-1000),
    state: new Int8Array(most).fill(-1),
    modifiedOn: new Int16Array(most).fill(-1001),
    isWanted: new Uint8Array(most),
    daysShown: new Uint8Array(most),
    lastShown: new Int16Array(most).fill(-1000),
    isShownFresh: new Uint8Array(most),
    shown: (page, day) => shown[page * RING + (day & (RING - 1))] ?? 0,
  };
  const shown = new Uint8Array(most * RING);
  let lastFinal = -DAYS_BEFORE;
  const { traffic, turnover, loss } = scenario;
  for (let page = 0; page < most; page++) {
    isIndexed[page] = Number(page < scenario.pages && random() < (shares[section[page] ?? 0] ?? 0));
    if (random() < traffic.share) {
      const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      chance[page] = 1 - Math.exp(-traffic.median * Math.exp(traffic.spread * normal));
    }
  }
  const passDay = (day: number) => {
    lastFinal = day - FINAL_AFTER;
    const [at, final, gone] = [day, lastFinal, lastFinal - WINDOW].map((one) => one & (RING - 1)) as [
      number,
      number,
      number,
    ];
    const [older, old] = [(day - 2) & (RING - 1), (day - 1) & (RING - 1)];
    for (let page = 0; page < known.pages; page++) {
      const likely = chance[page] ?? 0;
      if (likely === 0) continue;
      const first = page * RING;
      // 2: known while the day may still change.
      shown[first + at] = isIndexed[page] && random() < likely ? 1 + Number(random() < KNOWN_FRESH) : 0;
      known.isShownFresh[page] = Number(shown[first + older] === 2 || shown[first + old] === 2);
      const isShown = Number((shown[first + final] ?? 0) > 0);
      known.daysShown[page] = (known.daysShown[page] ?? 0) + isShown - Number((shown[first + gone] ?? 0) > 0);
      if (isShown) known.lastShown[page] = lastFinal;
    }
  };
  const live = (night: number) => {
    for (let page = 0; page < known.pages; page++) {
      const share = shares[section[page] ?? 0] ?? 0;
      const isIn = isIndexed[page] === 1;
      if (random() < turnover * (isIn ? 1 - share : loss > 0 ? 0 : share) + (isIn ? loss : 0)) {
        isIndexed[page] = isIn ? 0 : 1;
        fellOn[page] = isIn ? night : -1;
      }
      if (night > 0 && random() < (lively[section[page] ?? 0] ? scenario.modified : scenario.modified / 6))
        known.modifiedOn[page] = night;
    }
    const isHit = (page: number) => (section[page] ?? 0) < SECTIONS / 5;
    for (let page = 0; page < known.pages; page++) {
      if (!scenario.accident || !isHit(page)) continue;
      if (night === scenario.accident.from) wasIndexed[page] = isIndexed[page] ?? 0;
      if (night >= scenario.accident.from && night < scenario.accident.until) isIndexed[page] = 0;
      if (night === scenario.accident.until) isIndexed[page] = wasIndexed[page] ?? 0;
    }
  };
  for (let day = -DAYS_BEFORE; day < 0; day++) passDay(day);
  const website = `world-${seed}`;
  const found: InspectedWorld = {
    website,
    inspections: [],
    nights: [],
    truth: [],
    waits: [],
    unseen: 0,
    reasons: {},
    falseAlarms: 0,
  };
  const round = Math.ceil(scenario.pages / scenario.perNight);
  const isFollowed = (page: number) => {
    const [fell = -1, { falls }] = [fellOn[page], scenario];
    const counts = known.state[page] === 1 || (known.lastShown[page] ?? 0) > (known.inspectedOn[page] ?? 0);
    return falls !== undefined && counts && !isIndexed[page] && fell >= falls.from && fell < falls.to;
  };
  for (let night = 0; night < scenario.nights; night++) {
    live(night);
    if (night > 0) {
      known.firstSeen.fill(night, known.pages, known.pages + scenario.newPages);
      known.pages += scenario.newPages;
    }
    passDay(night);
    const { plan, others, counted, countedIndexed } = plannedInspections(known, night, lastFinal, scenario);
    onPlan?.(night, known, plan);
    let indexed = 0;
    for (let page = 0; page < known.pages; page++) indexed += isIndexed[page] ?? 0;
    found.truth.push(indexed / known.pages);
    found.nights.push(`${website},${night},${known.pages},${others},${counted},${countedIndexed}`);
    for (const [page, reason] of plan) {
      if (isFollowed(page)) found.waits.push(night - (fellOn[page] ?? 0));
      const is = isIndexed[page] ?? 0;
      known.isWanted[page] = Number(known.state[page] !== -1 && known.state[page] !== is);
      known.state[page] = is;
      known.inspectedOn[page] = night;
      found.inspections.push(`${website},${page},${night},${reason},${is === 1}`);
      found.falseAlarms += Number(reason === 'silent' && is === 1);
      found.reasons[reason] = (found.reasons[reason] ?? 0) + 1;
    }
    if (night < round) continue;
    for (let page = 0; page < known.pages; page++) {
      const seenOn = Math.max(known.inspectedOn[page] ?? 0, known.lastShown[page] ?? 0, known.firstSeen[page] ?? 0);
      found.unseen = Math.max(found.unseen, night - seenOn);
    }
  }
  for (let page = 0; page < known.pages; page++) if (isFollowed(page)) found.waits.push(Number.POSITIVE_INFINITY);
  return found;
}
