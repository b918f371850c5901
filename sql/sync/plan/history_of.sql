-- What an inspection must contradict more than once: that a page is in the index, or that Google knows it.
create or replace temp macro history_of(index_summary, state, is_shown) as case
  when index_summary = 'Indexed' then 'indexed'
  when is_shown or state not ilike '%unknown to Google%' then 'known'
end
