-- How many rows the largest table of a join holds: of the listing and the state before it the smaller one, none on a
-- first night.
select
  greatest(
    least((select count(*) from now_coverage), (select count(*) from previous_state)),
    (select count(*) from now_url_reports)
  ) as rows
