-- The most frequent values of what can narrow a list of pages down, among `selected`: the pages that the list selects now,
-- by a statement that comes before this one. A page counts in each of its sitemaps.
select facet, value, pages::integer as pages
from (
  select 'indexed' as facet, index_status as value, count(*) as pages
  from selected
  group by value
  union all
  select 'state', index_coverage_state, count(*)
  from selected
  group by index_coverage_state
  union all
  select 'directory', directory, count(*)
  from selected
  group by directory
  union all
  select 'sitemap', sitemap, count(*)
  from (select unnest(if(len(all_sitemaps) > 0, list_distinct(all_sitemaps), [null])) as sitemap from selected)
  group by sitemap
  union all
  select 'canonical', canonicals, count(*)
  from selected
  group by canonicals
  union all
  select 'crawl', crawl_span, count(*)
  from selected
  group by crawl_span
)
where value is null or length(value) <= 500
qualify row_number() over (partition by facet order by pages desc, value nulls last) <= $values::integer
order by facet, pages desc, value nulls last
