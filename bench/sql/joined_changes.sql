-- The sitemaps that a report names and the one before did not, or the other way round.
insert into changes_made by name
select
  website_id,
  url,
  'sitemaps' as change,
  to_json(sitemaps[nth])::varchar as from_value,
  to_json(sitemaps[nth + 1])::varchar as to_value,
  printf('%s-%03d', website_id, reports[nth]) as from_snapshot_id,
  printf('%s-%03d', website_id, reports[nth + 1]) as to_snapshot_id,
  to_snapshot_id as snapshot_id,
  getvariable('first_date')::date + reports[nth + 1]::integer as snapshot_date,
  snapshot_date + interval 3 hour as observed_at
from (select *, unnest(range(1, len(reports))) as nth from joined_pages)
where sitemaps[nth] <> sitemaps[nth + 1]
