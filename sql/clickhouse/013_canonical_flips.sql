-- Pages whose canonical URL changed to another one, newest first, as in the analysis of this name.
create or replace view canonical_flips as
select
  flips.website_id as website_id,
  flips.url as url,
  if(flips.change = 'user_canonical', 'owner', 'search engine') as chosen_by,
  flips.from_value as from_canonical,
  flips.to_value as to_canonical,
  flips.observed_at as observed_at,
  flips.snapshot_date as snapshot_date,
  pages.searchengine_selected_canonical as searchengine_selected_canonical_now,
  pages.user_selected_canonical as user_selected_canonical_now,
  pages.index_summary as index_summary_now
from page_changes as flips
left join pages on pages.website_id = flips.website_id and pages.url = flips.url
where
  flips.change in ('searchengine_canonical', 'user_canonical')
  and flips.from_value is not null
  and flips.to_value is not null
order by observed_at desc, website_id, url, chosen_by
settings join_use_nulls = 1
