-- How many rows the largest table of a comparison holds: the listing, the previous state or the reports. On a first night
-- every page is a new version, and all may be gone on another.
select
  greatest(
    (select count(*) from now_coverage),
    (select count(*) from previous_state),
    (select count(*) from now_url_reports)
  ) as rows
