-- How many rows the largest table of a join holds: the smaller of the listing and the previous state (no rows on a
-- first night), or the reports.
select
  greatest(
    least((select count(*) from now_coverage), (select count(*) from previous_state)),
    (select count(*) from now_url_reports)
  ) as rows
