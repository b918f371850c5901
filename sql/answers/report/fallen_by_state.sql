-- Samples of the pages that fell out of the index in a period of dates, by the coverage state that they are in at its end:
-- the most frequent states first, and for each state the pages that had most clicks, then those of the directory that lost
-- most to it.
with fell as (
  select
    *,
    to_state as state,
    directory_of(url) as directory,
    count(*) over (partition by to_state) as fallen,
    count(*) over (partition by website_id, to_state, directory_of(url)) as alike
  from (
    select
      *,
      clicks_before(website_id, url, observed_at) as clicks,
      day_of(last_seen_indexed(website_id, url, observed_at)) as last_seen_indexed
    from falls($since::date, $until::date)
    where move = 'fell_out' and ($website::varchar is null or website_id = $website::varchar)
  )
),
numbered as (
  select
    *,
    dense_rank() over (order by fallen desc, state) as state_number,
    row_number() over (partition by state order by clicks desc nulls last, alike desc, website_id, directory, url) as number
  from fell
)
select
  numbered.website_id,
  state,
  fallen::integer as fallen,
  numbered.url,
  snapshot_date,
  last_seen_indexed,
  numbered.clicks::integer as clicks,
  from_state,
  fall_circumstances(
    observed_at,
    numbered.report_fetched_at,
    numbered.report_page_fetch_status,
    numbered.report_blocked_by_robots_txt = 'Yes',
    numbered.report_indexing_allowed = 'Yes',
    numbered.url,
    numbered.searchengine_selected_canonical,
    numbered.user_selected_canonical
  ) as known,
  pages.index_summary as index_summary_now,
  is_listed(pages.status) as is_listed_now
from numbered
left join page_state as pages using (website_id, url)
where state_number <= 8 and number <= 5
order by state_number, number
