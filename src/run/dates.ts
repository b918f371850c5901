/** The calendar date of a moment in a time zone, as `YYYY-MM-DD`. */
export function calendarDate(at: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return parts.format(at);
}
