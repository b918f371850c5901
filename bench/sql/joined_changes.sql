-- What the listings and reports say about a page in one night and did not in the one before.
insert into changes_made by name
select
  website_id,
  url,
  change,
  from_value,
  to_value,
  printf('%s-%03d', website_id, from_night) as from_snapshot_id,
  printf('%s-%03d', website_id, night) as to_snapshot_id,
  to_snapshot_id as snapshot_id,
  getvariable('first_date')::date + night::integer as snapshot_date,
  snapshot_date + interval 3 hour as observed_at
from (
  select
    website_id,
    url,
    listed_from + nth - 1 as from_night,
    listed_from + nth as night,
    if(states[nth + 1] = 'Submitted and indexed', 'indexed', 'deindexed') as change,
    if(states[nth] = 'Submitted and indexed', 'Indexed', 'Not Indexed') as from_value,
    if(change = 'indexed', 'Indexed', 'Not Indexed') as to_value
  from (select *, unnest(range(1, len(states))) as nth from joined_pages)
  where from_value <> to_value
  union all
  select website_id, url, null, born, 'appeared', null, 'Not Indexed' from joined_pages where born > 0
  union all
  select
    website_id,
    url,
    reports[nth],
    reports[nth + 1],
    'sitemaps',
    to_json(sitemaps[nth])::varchar,
    to_json(sitemaps[nth + 1])::varchar
  from (select *, unnest(range(1, len(reports))) as nth from joined_pages)
  where sitemaps[nth] <> sitemaps[nth + 1]
)
