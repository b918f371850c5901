-- The reports as their journal holds them.
copy (
  select
    '{"kind":"fetched","url":' || to_json(url) || ',"reason":' || to_json(reason) || ',"at":"'
      || strftime("at", '%Y-%m-%dT%H:%M:%S.%gZ') || '","report":' || to_json(struct_update(
        report,
        last_crawl_time := strftime(report.last_crawl_time, '%Y-%m-%dT%H:%M:%S.%gZ'),
        inspection_date := strftime(report.inspection_date, '%Y-%m-%dT%H:%M:%S.%gZ'),
        page_detection := strftime(report.page_detection, '%Y-%m-%dT%H:%M:%S.%gZ'),
        previously_indexed_timestamp := strftime(report.previously_indexed_timestamp, '%Y-%m-%dT%H:%M:%S.%gZ'),
        canonical_changed_timestamp := strftime(report.canonical_changed_timestamp, '%Y-%m-%dT%H:%M:%S.%gZ'),
        ever_blocked_by_robots_txt_timestamp :=
          strftime(report.ever_blocked_by_robots_txt_timestamp, '%Y-%m-%dT%H:%M:%S.%gZ')
      )) || '}' as line
  from night_reports
) to $file (format csv, header false, quote '', escape '', delimiter E'\x01')
