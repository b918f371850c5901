-- The indexed pages of a complete listing are those of the one before, and what `page_changes` tells since. First by the
-- sum of the pages' hashes, which needs no join; where that differs, page by page: a page in both listings has no other
-- change than that between them, one that appeared had none before, and one that is not listed any more left the index
-- at most once. Rows of a replay may be older than what was known by then, and tell no change.
with listings as (
  select
    website_id,
    snapshot_id,
    snapshot_at,
    lag(snapshot_id) over by_time as before_id,
    lag(snapshot_at) over by_time as before_at
  from snapshots
  where listing_status = 'complete'
  window by_time as (partition by website_id order by snapshot_at, snapshot_id)
),
compared as (
  select *
  from listings
  where
    before_id is not null
    and snapshot_id not in (select commit_id from tombstones where table_name = 'coverage')
    and before_id not in (select commit_id from tombstones where table_name = 'coverage')
),
since_before as (
  select snapshots.snapshot_id, compared.snapshot_id as listing_id
  from snapshots
  join compared
    on snapshots.website_id = compared.website_id
    and snapshots.snapshot_at > compared.before_at
    and snapshots.snapshot_at <= compared.snapshot_at
),
told as materialized (
  select listing_id, url, sum(index_step(change, from_value, to_value)) as step, bool_or(change = 'appeared') as appeared
  from page_changes
  join since_before using (snapshot_id)
  where index_step(change, from_value, to_value) is not null or change = 'appeared'
  group by listing_id, url
),
summed as (
  select snapshot_id, sum(hash(url)::hugeint) as indexed
  from coverage
  where index_summary = 'Indexed'
  group by snapshot_id
),
different as materialized (
  select compared.*
  from compared
  left join summed using (snapshot_id)
  left join summed as summed_before on summed_before.snapshot_id = compared.before_id
  left join (select listing_id, sum(step * hash(url)::hugeint) as steps from told group by listing_id) as stepped
    on stepped.listing_id = compared.snapshot_id
  where coalesce(summed_before.indexed, 0) + coalesce(steps, 0) <> coalesce(summed.indexed, 0)
),
listed as materialized (
  select snapshot_id, url, (index_summary is not distinct from 'Indexed')::integer as indexed, commit_id = snapshot_id as is_own
  from coverage
  where snapshot_id in (select snapshot_id from different union select before_id from different)
),
earlier as (
  select different.snapshot_id as listing_id, url, indexed, is_own
  from listed
  join different on listed.snapshot_id = different.before_id
),
later as (
  select different.snapshot_id as listing_id, url, indexed, is_own
  from listed
  join different using (snapshot_id)
)
select
  website_id,
  different.snapshot_id,
  format(
    '{} came into the index or left it since listing {} in another way than page_changes tells, such as {}',
    plural(count(*), 'page'), any_value(before_id), min(url)
  ) as problem
from earlier
full join later using (listing_id, url)
left join told using (listing_id, url)
join different on different.snapshot_id = listing_id
where
  coalesce(earlier.is_own, true)
  and coalesce(later.is_own, true)
  and case
    when earlier.url is null then appeared and later.indexed <> coalesce(step, 0)
    when later.url is null then earlier.indexed + coalesce(step, 0) not in (0, 1)
    else later.indexed - earlier.indexed <> coalesce(step, 0)
  end
group by website_id, different.snapshot_id
