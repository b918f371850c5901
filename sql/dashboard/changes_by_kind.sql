-- How many changes of each kind a website had since a date, of one page or of pages whose URL holds a text. View
-- `page_changes`: one row per change.
select change, count(*)::integer as changes
from page_changes
where
  website_id = $website::varchar
  and ($since::date is null or snapshot_date >= $since::date)
  and ($url::varchar is null or url = $url::varchar)
  and ($url_contains::varchar is null or contains(lower(url), lower($url_contains::varchar)))
group by change
order by changes desc, change
