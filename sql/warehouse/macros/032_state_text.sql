-- The state of a page in words: its coverage state, or why it has none.
create or replace macro state_text(status, index_coverage_state) as case status
  when 'gone' then 'no longer listed'
  when 'retired' then 'retired'
  else coalesce(index_coverage_state, replace(status, '_', ' '))
end
