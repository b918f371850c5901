-- How pages moved in a period of dates, by a column of the user's own. `value` is null for pages of which it says nothing.
select
  own[$column::varchar] as value,
  count_if(was_indexed)::integer as indexed_before,
  count_if(move = 'entered')::integer as entered,
  count_if(move = 'fell_out')::integer as fell_out,
  count_if(is_indexed)::integer as indexed
from index_moves($since::date, $until::date)
left join own.pages using (website_id, url)
where $website::varchar is null or website_id = $website::varchar
group by value
having fell_out > 0
order by fell_out desc, value nulls last
limit 50
