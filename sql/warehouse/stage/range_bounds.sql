-- Where to cut the pages of this commit and of the previous state into ranges with about as many rows each: evenly
-- spaced URLs of a sample.
with sampled as (
  select url
  from (
    select url from now_coverage
    union all
    select url from previous_state
  )
  using sample reservoir(5000 rows) repeatable (1)
),
placed as (
  select url, ntile(getvariable('ranges')::integer) over (order by url) as part
  from sampled
)
select min(url) as bound
from placed
group by part
order by bound
