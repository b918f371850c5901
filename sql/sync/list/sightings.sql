-- What each place says about each page, as it was read. Search analytics may give a row twice, at the end of an answer and
-- in the next one.
create or replace temp table sightings as
select distinct url, spelling, coalesce(sitemap, 'search analytics') as source, lastmod, traffic
from read_json(
  getvariable('sightings_file'),
  format = 'newline_delimited',
  columns = {
    url: 'VARCHAR',
    spelling: 'VARCHAR',
    sitemap: 'VARCHAR',
    lastmod: 'VARCHAR',
    traffic: 'STRUCT("window" VARCHAR, page VARCHAR, clicks BIGINT, impressions BIGINT, "position" DOUBLE)'
  }
)
