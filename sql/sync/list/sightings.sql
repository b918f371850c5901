-- What each place says about each page, as it was read.
create or replace temp table sightings as
select url, coalesce(sitemap, 'search analytics') as source, lastmod, traffic
from read_json(
  getvariable('sightings_file'),
  format = 'newline_delimited',
  columns = {
    url: 'VARCHAR',
    sitemap: 'VARCHAR',
    lastmod: 'VARCHAR',
    traffic: 'STRUCT("window" VARCHAR, clicks BIGINT, impressions BIGINT, "position" DOUBLE)'
  }
)
