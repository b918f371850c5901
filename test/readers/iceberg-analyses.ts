const SINCE = '2025-03-10';
const UNTIL = '2025-04-05';
const BETWEEN = `snapshot_date >= date '${SINCE}' and snapshot_date <= date '${UNTIL}'`;
const CHANGED_THEN = `snapshot_date >= '${SINCE}' and snapshot_date <= '${UNTIL}'`;

interface Analysis {
  parameters?: string[];
  /** Those of its answer, in the order in which the statement gives them. */
  columns: string[];
  /** As each engine takes it; `unnest` has other names in two of them. */
  sql: string;
  /** What pyiceberg filters each table by. */
  filters?: Record<string, string>;
}

/** By the name under which `query` has them: each asks bare tables for the same. */
export const ANALYSES: Readonly<Record<string, Analysis>> = {
  indexing_trend: {
    columns: ['website_id', 'snapshot_date', 'pages', 'indexed', 'without_data', 'share_indexed', 'indexed_change'],
    sql: `with newest as (
        select website_id as website, snapshot_date as day, max(snapshot_at) as newest_at from snapshots
        where listing_status = 'complete' group by website_id, snapshot_date
      ),
      counted as (
        select snapshot_id as counted_id, sum(pages) as n,
          sum(case when index_summary = 'Indexed' then pages else 0 end) as n_indexed,
          sum(case when index_summary is null then pages else 0 end) as n_unknown
        from coverage_summary group by snapshot_id
      )
      select website_id, snapshot_date, n, n_indexed, n_unknown, floor(n_indexed / n * 10000 + 0.5) / 10000,
        n_indexed - lag(n_indexed) over (partition by website_id order by snapshot_date)
      from snapshots
      join newest on newest.website = snapshots.website_id and newest.newest_at = snapshots.snapshot_at
      join counted on counted.counted_id = snapshots.snapshot_id`,
    filters: { snapshots: "listing_status = 'complete'" },
  },
  deindexed_pages: {
    parameters: [`since=${SINCE}`, `until=${UNTIL}`],
    columns: [
      'website_id',
      'url',
      'from_value',
      'to_value',
      'observed_at',
      'snapshot_date',
      'index_summary_now',
      'index_coverage_state_now',
      'is_monitored_now',
    ],
    sql: `select page_changes.website_id, page_changes.url, from_value, to_value, observed_at, snapshot_date,
        index_summary, index_coverage_state,
        case when disappeared_at is null then true else false end
      from page_changes
      left join page_state on page_state.website_id = page_changes.website_id and page_state.url = page_changes.url
      where change = 'deindexed' and ${BETWEEN} and (index_summary is null or index_summary <> 'Indexed')`,
    filters: { page_changes: `change = 'deindexed' and ${CHANGED_THEN}` },
  },
  canonical_flips: {
    parameters: [`since=${SINCE}`, `until=${UNTIL}`],
    columns: ['website_id', 'url', 'chosen_by', 'from_canonical', 'to_canonical', 'observed_at', 'index_summary_now'],
    sql: `select page_changes.website_id, page_changes.url,
        case when change = 'user_canonical' then 'owner' else 'search engine' end,
        from_value, to_value, observed_at, index_summary
      from page_changes
      left join page_state on page_state.website_id = page_changes.website_id and page_state.url = page_changes.url
      where change in ('searchengine_canonical', 'user_canonical') and ${BETWEEN}
        and from_value is not null and to_value is not null`,
    filters: {
      page_changes: `change in ('searchengine_canonical', 'user_canonical') and from_value is not null
        and to_value is not null and ${CHANGED_THEN}`,
    },
  },
  state_transitions: {
    parameters: [`since=${SINCE}`, `until=${UNTIL}`],
    columns: ['website_id', 'from_state', 'to_state', 'pages', 'changes', 'last_observed_at'],
    sql: `select website_id, from_value, to_value, count(distinct url), count(*), max(observed_at) from page_changes
      where change = 'coverage_state' and ${BETWEEN} group by website_id, from_value, to_value`,
    filters: { page_changes: `change = 'coverage_state' and ${CHANGED_THEN}` },
  },
  coverage_by_directory: {
    parameters: [`since=${SINCE}`, `until=${UNTIL}`, 'limit=none'],
    columns: ['website_id', 'directory', 'pages', 'indexed', 'without_data', 'days_since_crawl', 'indexed_change'],
    sql: `with listings as (
        select website_id as website,
          max(case when snapshot_date <= date '${UNTIL}' then snapshot_at end) as now_at,
          max(case when snapshot_date <= date '${SINCE}' then snapshot_at end) as then_at
        from snapshots where listing_status = 'complete' group by website_id
      ),
      summed as (
        select website_id, directory,
          sum(case when snapshot_at = now_at then pages else 0 end) as n,
          sum(case when snapshot_at = now_at and index_summary = 'Indexed' then pages else 0 end) as n_indexed,
          sum(case when snapshot_at = now_at and index_summary is null then pages else 0 end) as n_unknown,
          sum(case when snapshot_at = now_at then crawled else 0 end) as n_crawled,
          sum(case when snapshot_at = now_at then days_since_crawl_total else 0 end) as days,
          sum(case when snapshot_at = then_at and index_summary = 'Indexed' then pages else 0 end) as n_then
        from coverage_summary join listings on listings.website = coverage_summary.website_id
        where snapshot_at = now_at or snapshot_at = then_at group by website_id, directory
      )
      select website_id, directory, n, n_indexed, n_unknown,
        case when n_crawled > 0 then floor(days / n_crawled * 10 + 0.5) / 10 end, n_indexed - n_then
      from summed`,
  },
  coverage_by_sitemap: {
    parameters: ['limit=none'],
    columns: ['website_id', 'sitemap', 'pages', 'indexed', 'without_data', 'share_indexed'],
    sql: `with monitored as (
        select website_id, url, index_summary, report_fetched_at, report_sitemaps
        from page_state where disappeared_at is null
      ),
      named as (select website_id, url, index_summary, unnest(report_sitemaps) as sitemap from monitored),
      members as (select website_id, url, index_summary, sitemap from named where sitemap is not null),
      others as (
        select monitored.website_id, monitored.url, monitored.index_summary,
          case when report_fetched_at is null then '(no report)' else '(none)' end as sitemap
        from monitored
        left join members on members.website_id = monitored.website_id and members.url = monitored.url
        where members.sitemap is null
      ),
      listed as (select * from members union all select * from others)
      select website_id, sitemap, count(*), sum(case when index_summary = 'Indexed' then 1 else 0 end),
        sum(case when index_summary is null then 1 else 0 end),
        floor(sum(case when index_summary = 'Indexed' then 1 else 0 end) / count(*) * 10000 + 0.5) / 10000
      from listed group by website_id, sitemap`,
  },
};
/** What the newest complete listing of each website holds. */
export const LISTED = `with newest as (
    select website_id as website, max(snapshot_at) as newest_at from snapshots
    where listing_status = 'complete' group by website_id
  )
  select website_id, url, index_coverage_state from coverage
  join newest on newest.website = coverage.website_id and newest.newest_at = coverage.snapshot_at`;

/** What retention left. */
export const LEFT = 'select website_id, snapshot_date, count(*) from coverage group by website_id, snapshot_date';
