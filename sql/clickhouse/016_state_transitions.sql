-- How many pages changed from which coverage state to which between two dates, as the analysis of this name answers it:
-- select * from state_transitions(since = '2026-11-01', until = '2026-11-30')
create or replace view state_transitions as
select
  website_id,
  from_value as from_state,
  to_value as to_state,
  count(distinct url) as pages,
  count() as changes,
  floor(count() / sum(count()) over (partition by website_id, from_value) * 10000 + 0.5) / 10000 as share_of_from,
  max(observed_at) as last_observed_at
from page_changes
where change = 'coverage_state' and snapshot_date between {since:Date32} and {until:Date32}
group by website_id, from_value, to_value
order by changes desc, website_id, from_state, to_state
