-- What may have made a page fall out of the index, as dimensions and values: traits of its URL, and of its listing and
-- report at that time (null: unknown). Each of its sitemaps is a separate value.
create or replace macro traits_of(url, listing, report) as list_concat(
  [
    {dimension: 'directory', "value": directory_of(url)},
    {dimension: 'template', "value": template_of(url)},
    {dimension: 'depth', "value": len(list_filter(string_split(path_of(url), '/'), lambda segment: segment <> ''))::varchar},
    {dimension: 'coverage_state', "value": listing.state},
    {dimension: 'canonical', "value": listing.canonical},
    {dimension: 'crawl_age', "value": listing.crawl_age},
    {dimension: 'fetch_status', "value": if(report is null, '(no report)', coalesce(report.status, '(none)'))},
    {dimension: 'blocked_by_robots', "value": if(report is null, '(no report)', coalesce(report.blocked, '(none)'))}
  ],
  list_transform(
    case
      when report is null then ['(no report)']
      when len(report.sitemaps) > 0 then list_distinct(report.sitemaps)
      else ['(none)']
    end,
    lambda sitemap: {dimension: 'sitemap', "value": sitemap}
  )
)
