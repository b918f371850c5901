-- How much a change matters for the index; 0 matters most. Below 2 it is a loss; below 4 the index itself has changed.
create or replace macro change_rank(change) as case
  when change in ('deindexed', 'data_lost') then 0
  when change = 'disappeared' then 1
  when change = 'indexed' then 2
  when change in ('appeared', 'retired') then 3
  when change = 'coverage_state' then 4
  else 5
end
