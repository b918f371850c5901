-- Of the pages that fell out of the index in the period before (`$earlier_since` to `$earlier_until`), how many are
-- indexed in the last complete listing of this one.
select count(*)::integer as fell_out, count(*) filter (later.is_indexed)::integer as back
from index_moves($earlier_since::date, $earlier_until::date) as earlier
left join index_moves($since::date, $until::date) as later using (website_id, url)
where earlier.move = 'fell_out' and ($website::varchar is null or website_id = $website::varchar)
