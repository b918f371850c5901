-- title: Canonical mismatches
-- description: Monitored pages for which the search engine has chosen another canonical URL than their owner declares, longest first, and since which listing without interruption; for a page that disappeared, since its return.
-- question: Canonicals
-- param website (text, default all): id or name of one website
-- param directory (text, default all): pages below one directory of the URL's path, such as /blog/, or / for those at the root
-- param url_contains (text, default all): pages whose URL contains this text, in any case
-- param state (text, default all): pages in this coverage state now, (none) for those without one
-- param limit (integer, default none): at most this many rows
-- grain: one row per page
-- show website_id (website): website
-- show differs_since (date): since
-- show url (url): page
-- show searchengine_selected_canonical (url): search engine chose
-- show user_selected_canonical (url): page declares
-- show index_coverage_state (text): state
with mismatched as (
  select *
  from pages
  where
    is_monitored
    and canonicals_compared(searchengine_selected_canonical, user_selected_canonical) = 'differ'
    and is_website(website_id, $website::varchar)
    and is_selected(url, index_coverage_state, $directory::varchar, $url_contains::varchar, $state::varchar)
),
-- The value of each before the change, in a struct, because null is a value too.
flips as (
  select
    website_id,
    url,
    observed_at,
    bool_or(change = 'appeared') as appeared,
    any_value({"value": from_value}) filter (change = 'searchengine_canonical') as engine_was,
    any_value({"value": from_value}) filter (change = 'user_canonical') as user_was
  from page_changes
  semi join mismatched using (website_id, url)
  where change in ('appeared', 'searchengine_canonical', 'user_canonical')
  group by website_id, url, observed_at
),
-- If a change affected only one of the two, the other had the value before its own next change, or its current one.
before_flips as (
  select
    flips.website_id,
    flips.url,
    observed_at,
    appeared,
    coalesce(
      first_value(engine_was ignore nulls) over from_here_on,
      {"value": mismatched.searchengine_selected_canonical}
    )."value" as engine_was,
    coalesce(
      first_value(user_was ignore nulls) over from_here_on,
      {"value": mismatched.user_selected_canonical}
    )."value" as user_was
  from flips
  join mismatched using (website_id, url)
  window from_here_on as (
    partition by flips.website_id, flips.url order by observed_at rows between current row and unbounded following
  )
),
began as (
  select website_id, url, max(observed_at) as differs_since
  from before_flips
  where appeared or (canonicals_compared(engine_was, user_was) = 'differ') is not true
  group by website_id, url
)
select
  mismatched.website_id,
  mismatched.url,
  mismatched.searchengine_selected_canonical,
  mismatched.user_selected_canonical,
  coalesce(began.differs_since, mismatched.first_seen_at) as differs_since,
  mismatched.listed_at as last_listed_at,
  mismatched.index_summary,
  mismatched.index_coverage_state
from mismatched
left join began using (website_id, url)
order by differs_since, mismatched.website_id, mismatched.url
limit $limit::bigint
