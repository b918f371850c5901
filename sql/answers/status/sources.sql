-- How the sources of each property's newest snapshot were read. View `listing_sources`: those of the newest snapshots.
select
  website_id,
  (count(*) filter (kind in ('sitemap', 'search_analytics')))::integer as sources,
  (count(*) filter (pages > 0))::integer as naming,
  (count(*) filter (kind in ('sitemap', 'index') and http_status in (404, 410)))::integer as gone,
  (count(*) filter (error is not null))::integer as failed,
  (count(*) filter (remark is not null and coalesce(http_status not in (404, 410), true)))::integer as remarked
from listing_sources
group by website_id
order by website_id
