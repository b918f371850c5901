-- How many pages of a website of Search Console, or of each (null), are listed, and how many of these were never inspected:
-- by the narrowest of the properties through which they can be inspected.
with known as (
  select website_id, max_by(quotas, snapshot_id)::varchar as quotas
  from snapshots
  where source = 'google' and (website_id = $website::varchar or $website::varchar is null)
  group by website_id
)
select
  website_id,
  quotas,
  scopes_of(url, (quotas::json ->> '$[*].scope'))[-1] as scope,
  count(*)::integer as pages,
  count_if(report_fetched_at is null)::integer as not_inspected
from page_state
join known using (website_id)
where disappeared_at is null
group by all
