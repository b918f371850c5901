-- The indexed pages of a complete listing are those of the one before, plus what `page_versions` says since; in the order
-- of the commits, whatever the clock said. The check first compares sums of the pages' hashes in buckets, which needs no join, and then goes page by page through the
-- buckets that differ: a page in both listings has no other change than the one between them, a page that appeared had
-- none before, and a page that is no longer listed left the index at most once.
with listings as (
  select
    website_id,
    snapshot_id,
    lag(snapshot_id) over (partition by website_id order by snapshot_id) as before_id
  from snapshots
  where listing_status = 'complete'
),
compared as (
  select *
  from listings
  where
    before_id is not null
    and snapshot_id not in (select snapshot_id from tombstones where table_name = 'coverage')
    and before_id not in (select snapshot_id from tombstones where table_name = 'coverage')
),
since_before as (
  select snapshots.snapshot_id, compared.snapshot_id as listing_id
  from snapshots
  join compared
    on snapshots.website_id = compared.website_id
    and snapshots.snapshot_id > compared.before_id
    and snapshots.snapshot_id <= compared.snapshot_id
),
steps as materialized (
  select
    listing_id,
    url,
    sum((status = 'indexed')::integer - coalesce(was_status = 'indexed', false)::integer) as step,
    bool_or(not is_listed(was_status)) as appeared
  from page_versions
  join since_before using (snapshot_id)
  where (status = 'indexed') <> coalesce(was_status = 'indexed', false) or not is_listed(was_status)
  group by listing_id, url
),
summed as materialized (
  select snapshot_id, hash(url) % 1024 as bucket, sum(hash(url)::hugeint) as pages
  from coverage
  where index_summary = 'Indexed'
  group by snapshot_id, bucket
),
different as materialized (
  select listing_id, bucket
  from (
    select compared.snapshot_id as listing_id, bucket, pages from summed join compared on before_id = summed.snapshot_id
    union all
    select listing_id, hash(url) % 1024, step * hash(url)::hugeint from steps
    union all
    select snapshot_id, bucket, -pages from summed join compared using (snapshot_id)
  )
  group by listing_id, bucket
  having sum(pages) <> 0
),
earlier as (
  select listing_id, url, (index_summary is not distinct from 'Indexed')::integer as indexed
  from coverage
  join compared on compared.before_id = coverage.snapshot_id
  join different on listing_id = compared.snapshot_id and bucket = hash(url) % 1024
),
later as (
  select listing_id, url, (index_summary is not distinct from 'Indexed')::integer as indexed
  from coverage
  join different on listing_id = snapshot_id and bucket = hash(url) % 1024
)
select
  compared.website_id,
  compared.snapshot_id,
  format(
    '{} came into the index or left it since listing {} in another way than page_versions says, such as {}',
    plural(count(*), 'page'), any_value(compared.before_id), min(url)
  ) as problem
from earlier
full join later using (listing_id, url)
left join steps using (listing_id, url)
join compared on compared.snapshot_id = listing_id
where
  case
    when earlier.url is null then appeared and later.indexed <> coalesce(step, 0)
    when later.url is null then earlier.indexed + coalesce(step, 0) not in (0, 1)
    else later.indexed - earlier.indexed <> coalesce(step, 0)
  end
group by compared.website_id, compared.snapshot_id
