-- Pages whose canonical URL changed to another one in the 30 days up to the newest snapshot, newest first.
with period as (select max(snapshot_date) - interval 30 day as since, max(snapshot_date) as until from snapshots)
select
  flips.website_id as website_id,
  flips.url as url,
  case when flips.change = 'user_canonical' then 'owner' else 'search engine' end as chosen_by,
  flips.from_value as from_canonical,
  flips.to_value as to_canonical,
  flips.observed_at as observed_at,
  flips.snapshot_date as snapshot_date,
  pages.searchengine_selected_canonical as searchengine_selected_canonical_now,
  pages.user_selected_canonical as user_selected_canonical_now,
  pages.index_summary as index_summary_now
from page_changes as flips
cross join period
left join page_state as pages on pages.website_id = flips.website_id and pages.url = flips.url
where
  flips.change in ('searchengine_canonical', 'user_canonical')
  and flips.from_value is not null
  and flips.to_value is not null
  and flips.snapshot_date between since and until
order by observed_at desc, website_id, url, chosen_by
