const MS_PER_DAY = 86_400_000;
/** 0000-01-01 and 9999-12-31, in days since 1970: what ISO 8601 writes with a year of four digits. */
const FIRST_DAY = -719_528;
const LAST_DAY = 2_932_896;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** The dates of a history of many years. */
const DATES_KEPT = 10_000;

const dates = new Map<number, string>();

/** A day, counted since 1970, as `YYYY-MM-DD`; undefined where its year has not four digits. */
export function isoDate(day: number): string | undefined {
  if (day < FIRST_DAY || day > LAST_DAY) return undefined;
  const known = dates.get(day);
  if (known !== undefined) return known;
  // An answer has far fewer dates than times, and making the date is most of the work.
  const date = new Date(day * MS_PER_DAY).toISOString().slice(0, 10);
  if (dates.size >= DATES_KEPT) dates.clear();
  dates.set(day, date);
  return date;
}

/** Milliseconds since 1970 as ISO 8601 in UTC; undefined where the year has not four digits. */
export function isoTime(ms: number): string | undefined {
  const day = Math.floor(ms / MS_PER_DAY);
  const date = isoDate(day);
  if (date === undefined) return undefined;
  const rest = ms - day * MS_PER_DAY;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  const [hour, minute] = [TWO_DIGITS[Math.floor(minutes / 60)], TWO_DIGITS[minutes % 60]];
  return `${date}T${hour}:${minute}:${TWO_DIGITS[seconds % 60]}.${String(rest % 1000).padStart(3, '0')}Z`;
}
