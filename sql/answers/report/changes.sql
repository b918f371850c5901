-- How many pages of each website changed in which way in a period of dates, both included. A page counts once, except
-- in `_times`. `canonical_flips` are pages whose canonical changed from one URL to another, `clicks_lost` the clicks
-- in 28 days of the pages that fell out, `crawls` what is odd about the night on which most did.
select
  website_id,
  count(distinct url) filter (change = 'appeared')::integer as appeared,
  count(distinct url) filter (change = 'disappeared')::integer as disappeared,
  count(distinct url) filter (is_flip(change, from_value, to_value))::integer as canonical_flips,
  count(*) filter (is_flip(change, from_value, to_value))::integer as canonical_flip_times,
  count(distinct url) filter (change = 'robots_blocked')::integer as robots_blocked,
  count(distinct url) filter (change = 'robots_unblocked')::integer as robots_unblocked,
  coalesce(any_value(clicks_lost), 0) as clicks_lost,
  any_value(crawls) as crawls
from page_changes
left join (
  select
    website_id,
    sum(clicks)::integer as clicks_lost,
    strftime(arg_max(snapshot_date, pages), 'on %b %-d, ')
      || uncrawled_clause(max(pages), arg_max(uncrawled, pages)) as crawls
  from (
    select
      website_id,
      made.snapshot_date as snapshot_date,
      count(*) as pages,
      count_if(made.is_uncrawled) as uncrawled,
      sum(clicks_before(website_id, url, made.observed_at)) as clicks
    from period_moves($since::date, $until::date)
    where move = 'fell_out' and ($website::varchar is null or website_id = $website::varchar)
    group by website_id, made.snapshot_date
  )
  group by website_id
) as lost using (website_id)
where
  ($website::varchar is null or website_id = $website::varchar)
  and snapshot_date between $since::date and $until::date
group by website_id
order by website_id
