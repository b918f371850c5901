insert into snapshots by name
select
  website_id,
  website_id || snapshot_date as snapshot_id,
  snapshot_date,
  snapshot_date::timestamptz as snapshot_at,
  'complete' as listing_status,
  'google' as source,
  json_object('others', others, 'shown', shown, 'shown_indexed', shown_indexed) as evidence,
  samples
from (
  select *, getvariable('first_date')::date + night as snapshot_date
  from read_csv(
    getvariable('nights_file'),
    columns = {
      website_id: 'VARCHAR', night: 'INTEGER', pages: 'INTEGER', others: 'INTEGER', shown: 'INTEGER', shown_indexed: 'INTEGER'
    }
  )
)
left join (
  select website_id, snapshot_date, inspection_samples(reason, index_summary) as samples
  from url_reports
  group by website_id, snapshot_date
) using (website_id, snapshot_date)
