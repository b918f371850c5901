/** What is known of the pages of a simulated website on a night; pages are in the order of their hash, days are nights. */
export interface Known {
  pages: number;
  firstSeen: Int16Array;
  /** -1000: never. */
  inspectedOn: Int16Array;
  /** What the last inspection found: 1 indexed, 0 not, -1 none. */
  state: Int8Array;
  modifiedOn: Int16Array;
  isWanted: Uint8Array;
  /** Of the 90 last days that are final: how many show the page, and which is the last. */
  daysShown: Uint8Array;
  lastShown: Int16Array;
  /** Whether a day shows it; 2: also while the day may still change. */
  shown: (page: number, day: number) => number;
  /** Whether a day that may still change shows it. */
  isShownFresh: Uint8Array;
}

const WINDOW = 90;
const NEVER = -1000;
const SILENT_BELOW = 0.02;
const MOST_FOR_REASONS = 0.6;
const LEAST_FOR_REASONS = 0.15;
const LOOKS_AHEAD = 7;
const ONE_IN = 20;
const GOLDEN = 0.6180339887;
/** Night 0 is so many days after the first of January 2000. */
export const FIRST_NIGHT = 9132;
const REASONS = ['silent', 'modified', 'changed', 'new', 'contradicted'];

interface Planning {
  perNight: number;
  isPlain?: boolean;
  /** The first page whose hash is beyond this part of all hashes. */
  placeOf?: (part: number) => number;
}
type Planned = readonly [page: number, reason: string];

/** The plan of a night, as the statements of `sql/sync/plan` make it of a website with one property. */
export function plannedInspections(
  known: Known,
  night: number,
  lastFinal: number,
  { perNight, isPlain = false, placeOf = (part) => Math.ceil(part * known.pages) }: Planning,
): { plan: Planned[]; others: number; counted: number; countedIndexed: number } {
  const reasoned: { page: number; reason: string; chance: number; isFirst: boolean; inspectedOn: number }[] = [];
  const turns = new Float64Array(known.pages);
  let [waiting, due, soon, counted, countedIndexed] = [0, 0, 0, 0, 0];
  const basis = new Uint8Array(known.pages);
  const period = Math.ceil(known.pages / perNight);
  for (let page = 0; page < known.pages; page++) {
    const [inspectedOn = NEVER, lastShown = NEVER] = [known.inspectedOn[page], known.lastShown[page]];
    const wasShown = !isPlain && (known.daysShown[page] ?? 0) > 0;
    // 1: counts as indexed, 2: as not indexed.
    if (wasShown) basis[page] = lastShown > inspectedOn || known.state[page] === 1 ? 1 : 2;
    counted += Number(wasShown);
    countedIndexed += Number(basis[page] === 1);
    const isShown = wasShown && lastShown > lastFinal - 7;
    const seenOn = Math.max(inspectedOn, wasShown ? lastShown : NEVER);
    if (!isShown) {
      turns[waiting++] = (seenOn + 2000) * 2 ** 20 + page;
      const since = seenOn === NEVER ? (known.firstSeen[page] ?? 0) : seenOn;
      due += Number(since <= night - period);
      soon += Number(since <= night - period + LOOKS_AHEAD);
    }
    if (isPlain) continue;
    const [reason, chance] = reasonOf(known, page, { lastFinal, isShown, wasShown });
    if (reason !== null) {
      const isFirst = inspectedOn === NEVER || reason === 'modified' || reason === 'silent';
      reasoned.push({ page, reason, chance, isFirst, inspectedOn });
    }
  }
  reasoned.sort(
    (one, other) =>
      Number(other.isFirst) - Number(one.isFirst) ||
      REASONS.indexOf(one.reason) - REASONS.indexOf(other.reason) ||
      one.chance - other.chance ||
      one.inspectedOn - other.inspectedOn ||
      one.page - other.page,
  );
  const needed = Math.max(due, soon / (LOOKS_AHEAD + 1)) / perNight;
  const share = Math.min(MOST_FOR_REASONS, Math.max(LEAST_FOR_REASONS, 1 - needed));
  const taken = new Set<number>();
  const plan: Planned[] = [];
  const take = (page: number, reason: string) => {
    if (taken.has(page) || plan.length >= perNight) return;
    taken.add(page);
    plan.push([page, reason]);
  };
  const start = placeOf(((night + FIRST_NIGHT) * GOLDEN) % 1);
  const drawn = isPlain ? [] : inTurn(known.pages, start, (page) => basis[page] !== 0);
  // The random checks come first, so that no reason decides which pages they are.
  const checks = Math.ceil(perNight / ONE_IN);
  for (const page of drawn.slice(0, checks)) take(page, basis[page] === 1 ? 'shown' : 'ended');
  for (const { page, reason } of reasoned) if (plan.length < Math.floor(share * perNight)) take(page, reason);
  const isNew = new Set(reasoned.flatMap(({ page, reason }) => (reason === 'new' ? [page] : [])));
  const queue = turns.subarray(0, waiting).sort();
  for (const turn of queue) {
    const page = turn % 2 ** 20;
    take(page, basis[page] || isNew.has(page) ? 'turn' : 'oldest');
  }
  for (const page of drawn) take(page, 'turn');
  return { plan, others: known.pages - counted, counted, countedIndexed };
}

function inTurn(pages: number, start: number, isDrawn: (page: number) => boolean): number[] {
  const found: number[] = [];
  for (let at = 0; at < pages; at++) {
    const page = ((start < pages ? start : 0) + at) % pages;
    if (isDrawn(page)) found.push(page);
  }
  return found;
}

function reasonOf(
  known: Known,
  page: number,
  { lastFinal, isShown, wasShown }: { lastFinal: number; isShown: boolean; wasShown: boolean },
): [reason: string | null, chance: number] {
  const [inspectedOn = NEVER, lastShown = NEVER] = [known.inspectedOn[page], known.lastShown[page]];
  if (inspectedOn !== NEVER && (known.modifiedOn[page] ?? NEVER) > inspectedOn) return ['modified', 1];
  if (wasShown && !known.isShownFresh[page] && (lastShown > inspectedOn || known.state[page] === 1)) {
    const silent = Math.min(lastFinal - lastShown, lastFinal - inspectedOn);
    const shown = known.daysShown[page] ?? 0;
    if (silent > 0 && shown > 1) {
      const chance = silenceChance(shown - 1, lastShown - firstShown(known, page, lastFinal), silent);
      if (chance < SILENT_BELOW) return ['silent', chance];
    }
  }
  if (inspectedOn === NEVER) return [(known.firstSeen[page] ?? 0) > 0 && !isShown ? 'new' : null, 1];
  if (known.isWanted[page]) return ['changed', 1];
  const isContradicted = wasShown && known.state[page] === 0 && lastShown >= inspectedOn + 7;
  return [isContradicted ? 'contradicted' : null, 1];
}

function firstShown({ shown }: Known, page: number, lastFinal: number): number {
  let day = lastFinal - WINDOW + 1;
  while (!shown(page, day)) day++;
  return day;
}

const LOG_GAMMA_HALVES = [Number.NaN, Math.log(Math.sqrt(Math.PI)), 0];
for (let half = 3; half <= 4 * WINDOW; half++)
  LOG_GAMMA_HALVES[half] = (LOG_GAMMA_HALVES[half - 2] ?? 0) + Math.log(half / 2 - 1);

/** As the macro `silence_chance` has it. */
function silenceChance(daysShown: number, days: number, silentDays: number): number {
  const at = (value: number) => LOG_GAMMA_HALVES[Math.round(2 * value)] ?? Number.NaN;
  const without = days - daysShown + 0.5;
  return Math.exp(at(without + silentDays) - at(without) + at(days) - at(days + silentDays));
}
