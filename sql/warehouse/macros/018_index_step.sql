-- How a row of `page_changes` changes the number of indexed pages: 1, -1, or null.
create or replace macro index_step(change, from_value, to_value) as case
  when change = 'indexed' or (change in ('appeared', 'first_data') and to_value = 'Indexed') then 1
  when change in ('deindexed', 'data_lost', 'disappeared') and from_value = 'Indexed' then -1
end
