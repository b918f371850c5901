-- The committed days of search analytics: what is known of each, or why it is unknown, and since when.
select
  "date"::varchar as "date", "type", is_final, clicks::double as clicks, impressions::double as impressions, unknown,
  epoch_ms(fetched_at)::double as "at"
from search_dates
where snapshot_id <> getvariable('snapshot_id')
