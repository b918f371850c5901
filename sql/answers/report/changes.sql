-- How many pages of each website changed in which way in a period of dates, both included. A page counts once, except in
-- `_times`. `canonical_flips` are pages whose canonical changed from one URL to another. View `page_changes`: one row
-- per change.
with moved as (
  select
    website_id,
    count_if(move = 'entered')::integer as entered,
    count_if(move = 'fell_out')::integer as fell_out,
    count_if(move = 'returned')::integer as returned
  from index_moves($since::date, $until::date)
  where $website::varchar is null or website_id = $website::varchar
  group by website_id
),
changed as (
  select
    website_id,
    count(distinct url) filter (change = 'appeared')::integer as appeared,
    count(distinct url) filter (change = 'disappeared')::integer as disappeared,
    count(distinct url) filter (
      change in ('searchengine_canonical', 'user_canonical') and from_value is not null and to_value is not null
    )::integer as canonical_flips,
    count(*) filter (
      change in ('searchengine_canonical', 'user_canonical') and from_value is not null and to_value is not null
    )::integer as canonical_flip_times,
    count(distinct url) filter (change = 'robots_blocked')::integer as robots_blocked,
    count(distinct url) filter (change = 'robots_unblocked')::integer as robots_unblocked
  from page_changes
  where
    ($website::varchar is null or website_id = $website::varchar)
    and snapshot_date between $since::date and $until::date
  group by website_id
)
select
  website_id,
  coalesce(entered, 0) as entered,
  coalesce(fell_out, 0) as fell_out,
  coalesce(returned, 0) as returned,
  coalesce(appeared, 0) as appeared,
  coalesce(disappeared, 0) as disappeared,
  coalesce(canonical_flips, 0) as canonical_flips,
  coalesce(canonical_flip_times, 0) as canonical_flip_times,
  coalesce(robots_blocked, 0) as robots_blocked,
  coalesce(robots_unblocked, 0) as robots_unblocked
from changed
full join moved using (website_id)
order by website_id
