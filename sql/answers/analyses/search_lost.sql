-- title: Pages that search lost
-- description: Pages of properties of Search Console that search showed on eight days or more and shows no more, those with the most clicks first. `chance` is how likely so many days without an impression are for a page that was shown on `days_shown` of the `days` after its first, if nothing has changed; pages above one in a thousand are left out. `clicks` are those of web search in the 28 days up to `last_shown`. Silence is a sign and no proof: `status` and `report_age_days` say what the last inspection found.
-- question: What does search show?
-- param until (date, default today): as of this date
-- param since (date, default none): last shown on or after this date
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param limit (integer, default 50): at most this many rows, or none for all
-- grain: one row per website and page
-- show url (url): page
-- show clicks (count): clicks
-- show last_shown (date): last shown
-- show silent_days (count): days silent
-- show days_shown (count): days shown
-- show days (count): of
-- show status (text): status
-- show report_age_days (count): inspected days ago
select
  lost.website_id,
  lost.url,
  directory_of(lost.url) as directory,
  lost.clicks,
  last_date as last_shown,
  silent_days,
  days_shown,
  days,
  round(silence_chance(days_shown, days, silent_days), 6) as chance,
  coalesce(pages.status, 'unlisted') as status,
  days_between(pages.report_fetched_at, newest_at(lost.website_id)) as report_age_days
from search_silences($website::varchar, $until::date, '-infinity'::date, 2) as lost
left join page_state as pages using (website_id, url)
where
  is_silent(days_shown, days, silent_days)
  and last_date >= coalesce($since::date, '-infinity')
  and ($directory::varchar is null or is_selected(lost.url, null, $directory::varchar, null, null))
order by lost.clicks desc, last_shown desc, lost.website_id, lost.url
limit $limit::bigint
