-- Coverage states that pages leave at about the same rate: indexed, crawled, discovered, unknown, and all others.
create or replace macro state_group(index_summary, state) as case
  when index_summary = 'Indexed' then 0
  when starts_with(state, 'Crawled') then 1
  when starts_with(state, 'Discovered') then 2
  when state is null or contains(state, 'unknown') then 3
  else 4
end
