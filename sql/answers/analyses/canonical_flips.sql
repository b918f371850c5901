-- title: Canonical flips
-- description: Pages whose canonical URL changed to another one, newest first: the one that the search engine chose, or the one that the owner declares. A canonical that only appeared or disappeared does not count.
-- question: Canonicals
-- param since (date, default 6 days ago): first date; by default the last seven dates are covered
-- param until (date, default today): last date
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page, side and change
-- show snapshot_date (date): date
-- show url (url): page
-- show chosen_by (text): chosen by
-- show from_canonical (url): before
-- show to_canonical (url): after
-- show index_summary_now (text): index now
select
  flips.website_id,
  flips.url,
  if(flips.change = 'user_canonical', 'owner', 'search engine') as chosen_by,
  flips.from_value as from_canonical,
  flips.to_value as to_canonical,
  flips.observed_at,
  flips.snapshot_date,
  pages.searchengine_selected_canonical as searchengine_selected_canonical_now,
  pages.user_selected_canonical as user_selected_canonical_now,
  pages.index_summary as index_summary_now
from page_changes as flips
left join page_state as pages on pages.website_id = flips.website_id and pages.url = flips.url
where
  is_flip(flips.change, flips.from_value, flips.to_value)
  and flips.snapshot_date between $since::date and $until::date
  and is_website(flips.website_id, $website::varchar)
  and is_selected(flips.url, state_or_status(pages.status, pages.index_coverage_state), $directory::varchar, $url_contains::varchar, $state::varchar)
order by flips.observed_at desc, flips.website_id, flips.url, chosen_by
limit $limit::bigint
