-- The selected pages of a website or of all, with the value that they are sorted by, in `ascending` or `descending`;
-- the other one is null. `filters` is a JSON object, `-` selects unknown values, `listed` is the date of `listed_pages`.
-- Columns that the caller does not select are not read.
create or replace macro selected_pages(filters, sort) as table
select
  website_id,
  url as whole_url,
  -- Texts may be megabytes long.
  left(url, 17000) as url,
  index_summary,
  nullif(left(index_coverage_state, 2000), '') as index_coverage_state,
  canonicals_compared(searchengine_selected_canonical, user_selected_canonical) as canonicals,
  left(searchengine_selected_canonical, 17000) as searchengine_selected_canonical,
  iso_time(last_known_crawl_time) as last_crawl_time,
  iso_time(report_fetched_at) as report_fetched_at,
  unlisted_since is not null as is_gone,
  left(user_selected_canonical, 17000) as user_selected_canonical,
  left(report_page_fetch_status, 2000) as page_fetch_status,
  left(report_blocked_by_robots_txt, 2000) as blocked_by_robots_txt,
  left(report_indexing_allowed, 2000) as indexing_allowed,
  left(report_searchenginebot_primary_crawler, 2000) as primary_crawler,
  [left(sitemap, 2000) for sitemap in report_sitemaps[:3]] as sitemaps,
  len(report_sitemaps)::integer as sitemap_count,
  iso_time(report_inspection_date) as inspection_date,
  iso_time(report_page_detection) as page_detection,
  iso_time(first_seen_at) as first_seen_at,
  case
    when unlisted_since is not null then 'gone'
    when index_summary = 'Indexed' then 'yes'
    when index_summary is null then '-'
    else 'no'
  end as index_status,
  status,
  directory_of(url) as directory,
  report_sitemaps as all_sitemaps,
  own,
  list_filter(
    [if(report_rich_results_verdict = 'FAIL', 'rich_results', null), if(is_confirmed, null, 'unconfirmed')],
    lambda problem: problem is not null
  ) as problems,
  -- Counted up to the newest snapshot, as in the analysis `crawl_freshness`.
  crawl_span(status, days_between(last_known_crawl_time, newest_at)) as crawl_span,
  newest_at,
  days_between(report_fetched_at, newest_at) as report_age_days,
  case sort
    when 'state' then index_coverage_state
    when 'indexed' then index_summary
    when 'canonical' then searchengine_selected_canonical
    when 'crawl' then iso_time(last_known_crawl_time)
    -- `report` sorts by age, so its order is the reverse of the time.
    when '-report' then iso_time(report_fetched_at)
  end as ascending,
  case sort
    when '-url' then url
    when '-state' then index_coverage_state
    when '-indexed' then index_summary
    when '-canonical' then searchengine_selected_canonical
    when '-crawl' then iso_time(last_known_crawl_time)
    when 'report' then iso_time(report_fetched_at)
  end as descending
from listed_pages((filters->>'listed')::date)
join (select website_id, arg_max(snapshot_at, snapshot_id) as newest_at from snapshots group by website_id) using (website_id)
left join own.pages using (website_id, url)
where
  is_website(website_id, (filters->>'website'))
  and is_selected(
    url,
    state_or_status(status, nullif(nullif(index_coverage_state, ''), '-')),
    (filters->>'directory'),
    (filters->>'url_contains'),
    if((filters->>'state') = '-', '(none)', (filters->>'state'))
  )
  and case (filters->>'sitemap')
    when '-' then coalesce(len(report_sitemaps), 0) = 0
    when 'any' then len(report_sitemaps) > 0
    else (filters->>'sitemap') is null or list_contains(report_sitemaps, (filters->>'sitemap'))
  end
  and ((filters->>'crawl') is null or crawl_span = (filters->>'crawl'))
  and case (filters->>'fetch')
    when '-' then report_page_fetch_status is null
    when 'failed' then report_page_fetch_status <> 'Successful'
    else (filters->>'fetch') is null or report_page_fetch_status = (filters->>'fetch')
  end
  and ((filters->>'problem') is null or list_contains(problems, (filters->>'problem')))
  -- `own` is a JSON object: the value of each of the user's own columns.
  and ((filters->>'own') is null or list_bool_and([
    coalesce(own[asked.key], '-') = asked.value for asked in map_entries((filters->'own')::map(varchar, varchar))
  ]))
  -- It fell out, entered or did both in the period; or something (`any`) or this kind of change happened in it. Each
  -- subquery names when it is needed, because it runs whatever stands beside it.
  and (
    coalesce((filters->>'changed'), (filters->>'from'), (filters->>'to')) is null
    or (website_id, url) in (
      select (website_id, url)
      -- By default in the last seven dates of what the question reads.
      from period_moves(
        coalesce((filters->>'from')::date, coalesce((filters->>'to')::date, (select max(snapshot_date) from snapshots)) - 6),
        coalesce((filters->>'to')::date, (select max(snapshot_date) from snapshots))
      )
      where
        move = (filters->>'changed')
        and (filters->>'changed') in ('fell_out', 'entered', 'returned', 'retired', 'first_inspected', 'passed')
    )
    or (website_id, url) in (
      select (website_id, url)
      from page_changes
      where
        coalesce((filters->>'changed'), (filters->>'from'), (filters->>'to')) is not null
        and coalesce((filters->>'changed'), 'any') not in ('fell_out', 'entered', 'returned')
        and ((filters->>'from')::date is null or snapshot_date >= (filters->>'from')::date)
        and ((filters->>'to')::date is null or snapshot_date <= (filters->>'to')::date)
        and if(
          coalesce((filters->>'changed'), 'any') = 'any',
          not is_noise(change, from_value),
          change = (filters->>'changed')
        )
    )
  )
  and ((filters->>'indexed') is null or index_status = (filters->>'indexed'))
  and ((filters->>'canonical') is null or coalesce(canonicals, '-') = (filters->>'canonical'))
  -- Pages that moved in the period may be gone by now.
  and case coalesce(
    (filters->>'monitored'),
    if((filters->>'changed') in ('fell_out', 'entered', 'returned', 'disappeared', 'retired'), 'all', null)
  )
    when 'gone' then unlisted_since is not null
    when 'all' then true
    else unlisted_since is null
  end
