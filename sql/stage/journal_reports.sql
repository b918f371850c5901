-- The journal of report answers as it lies on disk.
create or replace temp view journal_reports as
select *
from read_json(
  getvariable('reports_file'),
  format = 'newline_delimited',
  columns = {
    kind: 'VARCHAR',
    url: 'VARCHAR',
    reason: 'VARCHAR',
    "at": 'TIMESTAMPTZ',
    http_status: 'INTEGER',
    message: 'VARCHAR',
    absent: 'VARCHAR[]',
    extra: 'VARCHAR',
    issues: 'VARCHAR',
    payload: 'VARCHAR',
    report: 'STRUCT(
      url VARCHAR,
      index_summary VARCHAR,
      index_coverage_state VARCHAR,
      indexing_allowed VARCHAR,
      searchengine_selected_canonical VARCHAR,
      user_selected_canonical VARCHAR,
      searchenginebot_primary_crawler VARCHAR,
      last_crawl_time TIMESTAMPTZ,
      days_since_last_crawl INTEGER,
      page_fetch_status VARCHAR,
      blocked_by_robots_txt VARCHAR,
      sitemaps VARCHAR[],
      inspection_date TIMESTAMPTZ,
      page_detection TIMESTAMPTZ,
      inspection_link VARCHAR,
      service_link VARCHAR,
      previously_indexed VARCHAR,
      previously_indexed_timestamp TIMESTAMPTZ,
      previously_indexed_link VARCHAR,
      canonical_changed VARCHAR,
      canonical_changed_searchengine_canonical VARCHAR,
      canonical_changed_user_canonical VARCHAR,
      canonical_changed_timestamp TIMESTAMPTZ,
      canonical_changed_link VARCHAR,
      ever_blocked_by_robots_txt VARCHAR,
      ever_blocked_by_robots_txt_timestamp TIMESTAMPTZ,
      ever_blocked_by_robots_txt_link VARCHAR
    )'
  }
)
