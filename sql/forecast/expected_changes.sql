-- What a listing brings in a night, for each website: medians over the listings in `$snapshots`, each of the website at
-- the same place of `$websites`, in pages whose report may be fetched. View `page_changes`: theirs.
select
  website_id,
  count(*)::integer as snapshots,
  round(median(missing))::integer as missing,
  round(median(changed))::integer as changed,
  round(median(new))::integer as new,
  round(median(recrawled))::integer as recrawled
from (
  select
    listing.website_id,
    count(*) filter (is_gone) as missing,
    count(*) filter (is_changed) as changed,
    count(*) filter (is_new) as new,
    count(*) filter (is_crawled and not is_changed) as recrawled
  from (select unnest($snapshots) as commit_id, unnest($websites) as website_id) as listing
  left join (
    select
      commit_id,
      bool_or(change = 'disappeared') as is_gone,
      bool_or(change = 'appeared') as is_new,
      bool_or(change = 'crawled') as is_crawled,
      bool_or(change in (
        'indexed', 'deindexed', 'data_lost', 'coverage_state', 'searchengine_canonical', 'user_canonical',
        'canonicals_match'
      )) as is_changed
    from page_changes
    where not never_fetched(url)
    group by commit_id, url
  ) as page using (commit_id)
  group by listing.website_id, commit_id
)
group by website_id
