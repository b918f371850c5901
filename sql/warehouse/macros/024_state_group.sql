-- Coverage states that pages leave at about the same rate: indexed, crawled, discovered, unknown, and all others.
create or replace macro state_group(status, state) as case
  when status = 'indexed' then 0
  when starts_with(state, 'Crawled') then 1
  when starts_with(state, 'Discovered') then 2
  when state is null or contains(state, 'unknown') then 3
  else 4
end
