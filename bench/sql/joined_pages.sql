-- Simulated pages: the state of each from the night on which it was first listed, and the nights of its reports.
create or replace table joined_pages as
select
  *,
  greatest(born, 0) as listed_from,
  list_transform(
    reports,
    lambda night: list_concat(
      if(isInAnother, ['https://www.example.com/all.xml'], []::varchar[]),
      if(joins and night >= joins_on, ['https://www.example.com/joined.xml'], []::varchar[])
    )
  ) as sitemaps
from (
  select unnest(from_json($pages, '[{
    "website_id": "VARCHAR", "url": "VARCHAR", "born": "INTEGER", "states": "VARCHAR[]", "reports": "INTEGER[]",
    "joins": "BOOLEAN", "joins_on": "INTEGER", "isInAnother": "BOOLEAN"
  }]'), recursive := true)
)
