-- What a website's listing holds: of each page its newest entry in the commits that make the listing, and where the
-- newest is in quarantine, the last one before. Views `served_coverage` and `served_rejected` are over those commits,
-- `earlier_coverage` over the ones before them.
create or replace temp view served_listing as
with newest as (
  select *
  from served_coverage
  qualify row_number() over (partition by url order by listed_at desc, commit_id desc) = 1
),
in_quarantine as (
  select distinct url
  from served_rejected
  where source = 'coverage' and url is not null
),
before_quarantine as (
  select earlier_coverage.*
  from earlier_coverage
  semi join in_quarantine using (url)
  anti join newest using (url)
  qualify row_number() over (partition by url order by listed_at desc, commit_id desc) = 1
)
select * from newest
union all by name
select * from before_quarantine
