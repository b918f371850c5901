-- The listing's journal of a night that finds every page as the newest state has it. A page that was missing still is.
-- View `newest_listing`: that of Search Console, for what sitemaps say about a page.
select
  'entry' as kind,
  1 as walk,
  1 as "window",
  row_number() over () as position,
  url,
  canonicals_match_present,
  json_merge_patch(
    coalesce(newest_listing.extra, '{}'),
    {
      named_by: was.named_by,
      spelling: was.spelling,
      -- What was named then is named tonight.
      last_named_at: if(was.last_named_at < was.listed_at, was.last_named_at, null)
    }::json
  )::varchar as extra,
  {
    url: url,
    index_summary: was.index_summary,
    index_coverage_state: was.index_coverage_state,
    canonicals_match: was.canonicals_match,
    searchengine_selected_canonical: was.searchengine_selected_canonical,
    user_selected_canonical: was.user_selected_canonical,
    last_crawl_time: was.last_crawl_time
  } as entry
from previous_state as was
left join (select url, extra from newest_listing) as newest_listing using (url)
where disappeared_at is null and absences = 0
union all by name
select 'window' as kind, 1 as walk, 1 as "window", 0 as keep, getvariable('planned_at') as "at"
