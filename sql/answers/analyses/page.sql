-- title: One page in sentences
-- description: What is known of one page now, in plain sentences, then what changed, newest night first. `date` is the date of what a sentence is about: since when, the last crawl, the listing or the report that says it. The view `page_history` has every listing.
-- question: What changed?
-- param url (text, required): the page's whole URL, as it is listed
-- grain: one row per sentence, and one per night with a change
-- show topic (text): about
-- show date (date): date
-- show sentence (text): what is known
with page as (
  select
    pages.* exclude (index_since),
    if(is_property(website_id), if(report_fetched_at is null, 'not inspected yet', 'inspected without a verdict'), null)
      as without_verdict
  from pages
  where
    -- A subquery, because DuckDB skips files by the bounds of a join, not by an `in` list.
    pages.url in (select unnest([$url::varchar, url_key($url::varchar)]))
    and is_website(pages.website_id, $website::varchar)
),
dated as (
  select
    website_id,
    max(snapshot_date) filter (list_contains(changes, 'first_data')) as first_inspected,
    max(snapshot_date) filter (is_listed(status) and status is distinct from was_status) as index_since,
    max(snapshot_date) filter (
      is_listed(status)
      and (index_coverage_state is distinct from was_index_coverage_state or not is_listed(was_status))
    ) as state_since,
    max(snapshot_date) filter (not is_listed(status) and is_listed(was_status)) as gone_since
  from page_versions
  semi join page using (website_id, url)
  where len(changes) > 0
  group by website_id
),
rich_errors as (
  select website_id, array_to_string(list_sort(list(distinct concat(rich_result_type, ' (' || issue || ')'))), ', ') as named
  from rich_results
  semi join page on
    page.website_id = rich_results.website_id
    and page.url = rich_results.url
    and page.report_snapshot_id = rich_results.snapshot_id
  where severity = 'ERROR'
  group by website_id
),
said as (
  select
    page.*,
    coalesce(dated.index_since, day_of(page.first_seen_at)) as index_since,
    if(dated.index_since is null or dated.index_since = dated.first_inspected, ' at least since ', ' since ')
      || spelled_date(coalesce(dated.index_since, day_of(page.first_seen_at))) as since,
    dated.state_since,
    dated.gone_since,
    rich_errors.named as rich_errors,
    case page.index_summary when 'Indexed' then 'Indexed' when 'Not Indexed' then 'Not indexed' else page.index_summary end
      as summary,
    coalesce(page.index_coverage_state, 'no coverage state') as state,
    if(searchengine_selected_canonical = url, 'the page itself', searchengine_selected_canonical) as engine_canonical,
    if(user_selected_canonical = url, 'itself', user_selected_canonical) as user_canonical
  from page
  left join dated using (website_id)
  left join rich_errors using (website_id)
),
sentences as (
  select website_id, url, unnest([
    {
      place: 1,
      topic: 'index',
      date: if(is_listed, index_since, gone_since),
      sentence: case
        when listed_snapshot_id is null then 'Only seen in quarantine: its entry of the listing breaks the contract.'
        when not is_listed then if(
          status = 'retired',
          'Retired on ' || spelled_date(gone_since) || ', because no source had named it for a long time',
          'Gone from the listing since ' || spelled_date(gone_since)
        ) || '; before it was ' || coalesce(lower(summary) || ': ' || state, without_verdict, 'without inspection data') || '.'
        when index_summary is null and without_verdict is not null
          then upper(left(without_verdict, 1)) || substr(without_verdict, 2) || '.'
        when index_summary is null then 'No inspection data' || since || '.'
        when state_since > index_since then summary || since || ', now: ' || state || ' (since '
          || spelled_date(state_since) || ').'
        else summary || since || ': ' || state || '.'
      end || if(is_confirmed, '', ' Now it looks as if it fell; not confirmed.')
    },
    {
      place: 2,
      topic: 'crawl',
      date: day_of(last_crawl_time),
      sentence: case
        when last_crawl_time is null then 'No crawl is known.'
        else 'Last crawled ' || spelled_date(day_of(last_crawl_time)) || ', ' || if(
          days_between(last_crawl_time, newest_at) = 0,
          'less than a day',
          plural(days_between(last_crawl_time, newest_at), 'day')
        ) || ' before the newest snapshot.'
      end
    },
    {
      place: 3,
      topic: 'canonical',
      date: day_of(listed_at),
      sentence: case
        when engine_canonical is null and user_canonical is null then 'No canonical is known.'
        when engine_canonical is null then 'The page declares ' || user_canonical
          || ' as canonical; the search engine has chosen none.'
        when user_canonical is null then 'The search engine chose ' || engine_canonical
          || ' as canonical; the page declares none.'
        when searchengine_selected_canonical = user_selected_canonical then 'Canonical: ' || engine_canonical
          || ', as the page declares.'
        else 'The search engine chose ' || engine_canonical || ' as canonical; the page declares ' || user_canonical || '.'
      end
    },
    {
      place: 4,
      topic: 'sitemap',
      date: day_of(report_fetched_at),
      sentence: case
        when len(report_sitemaps) > 0 then 'In ' || plural(len(report_sitemaps), 'sitemap') || ': '
          || array_to_string(report_sitemaps, ', ') || '.'
        when report_fetched_at is not null then 'In no sitemap.'
      end
    },
    {
      place: 5,
      topic: 'fetch',
      date: day_of(report_fetched_at),
      sentence: 'Fetch: ' || report_page_fetch_status
        || coalesce(', by the crawler ' || report_searchenginebot_primary_crawler, '') || '.'
    },
    {
      place: 6,
      topic: 'robots',
      date: day_of(report_fetched_at),
      sentence: nullif(concat_ws(
        ' ',
        case
          when is_blocked_by_robots_txt then 'Blocked by robots.txt.'
          when was_ever_blocked_by_robots_txt then 'Allowed by robots.txt, which blocked it before.'
          when not is_blocked_by_robots_txt then 'Allowed by robots.txt.'
        end,
        if(is_indexing_allowed, 'Indexing is allowed.', if(not is_indexing_allowed, 'Indexing is not allowed.', null))
      ), '')
    },
    {
      place: 7,
      topic: 'rich results',
      date: day_of(report_fetched_at),
      sentence: if(
        report_rich_results_verdict = 'FAIL',
        'Rich results with errors' || coalesce(': ' || rich_errors, '') || '.',
        null
      )
    },
    {
      place: 8,
      topic: 'report',
      date: day_of(report_fetched_at),
      sentence: coalesce(
        'Last report ' || spelled_date(day_of(report_fetched_at)) || '.',
        'No report yet: sitemaps, fetch and robots.txt are unknown.'
      ) || if(consecutive_failures > 0, ' Requests for it that failed since: ' || consecutive_failures || '.', '')
    },
    {
      place: 9,
      topic: 'listing',
      date: day_of(last_seen_at),
      sentence: 'First seen ' || spelled_date(day_of(first_seen_at)) || ', last listed ' || spelled_date(day_of(last_seen_at)) || '.'
        || if(
          day_of(listed_at) < day_of(last_seen_at),
          ' Its entries after ' || spelled_date(day_of(listed_at)) || ' break the contract and are in quarantine.',
          ''
        )
    }
  ], recursive := true)
  from said
),
history as (
  select
    website_id,
    10 as place,
    'history' as topic,
    snapshot_date as date,
    string_agg(
      change_text(change, if(from_value = url, 'itself', from_value), if(to_value = url, 'itself', to_value)),
      '; '
      order by change in ('appeared', 'disappeared', 'retired', 'indexed', 'deindexed', 'data_lost', 'first_data') desc, observed_at, change
    ) || '.' as sentence
  from page_changes
  semi join page using (website_id, url)
  -- The canonicals say it.
  where change <> 'canonicals_match'
  group by website_id, snapshot_date
)
select website_id, topic, date, sentence
from (
  select website_id, place, topic, date, sentence from sentences where sentence is not null
  union all
  select website_id, place, topic, date, sentence from history
)
order by website_id, place, date desc
