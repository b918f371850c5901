-- The most frequent values of each filter for a list of pages, among the pages that the list selects now. A page counts in
-- each of its sitemaps.
select facet, value, sum(pages)::integer as pages
from (
  select
    unnest(
      list_concat(
        [
          {facet: 'indexed', value: index_status},
          {facet: 'state', value: if(is_listed(status), index_coverage_state, state_text(status, null))},
          {facet: 'directory', value: directory},
          {facet: 'canonical', value: canonicals},
          {facet: 'crawl', value: crawl_span},
          {facet: 'fetch', value: page_fetch_status}
        ],
        list_transform(problems, lambda problem: {facet: 'problem', value: problem}),
        list_transform($own_columns, lambda name: {facet: 'own.' || name, value: own[name]}),
        list_transform(
          if(len(all_sitemaps) > 0, list_distinct(all_sitemaps), [null]),
          lambda sitemap: {facet: 'sitemap', value: sitemap}
        )
      ),
      recursive := true
    ),
    pages
  from (
    select
      index_status,
      status,
      index_coverage_state,
      directory,
      all_sitemaps,
      canonicals,
      crawl_span,
      page_fetch_status,
      own,
      problems,
      count(*) as pages
    from selected_pages($filters::json, null)
    group by all
  )
)
where value is null or length(value) <= 500
group by facet, value
qualify row_number() over (partition by facet order by sum(pages) desc, value nulls last) <= $values::integer
order by facet, pages desc, value nulls last
