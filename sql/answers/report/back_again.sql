-- Of the pages that fell out of the index in the period before (`$earlier_since` to `$earlier_until`), how many are
-- indexed in the last complete listing of this one.
select count(*)::integer as fell_out, count(*) filter (later.move = 'entered')::integer as back
from period_moves($earlier_since::date, $earlier_until::date) as earlier
left join period_moves($since::date, $until::date) as later using (website_id, url)
where earlier.move = 'fell_out' and ($website::varchar is null or website_id = $website::varchar)
