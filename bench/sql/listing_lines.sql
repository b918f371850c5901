-- The listing as its journal holds it: the line of each window behind its entries.
copy (
  select line
  from (
    select
      "window",
      position,
      '{"kind":"entry","walk":1,"window":' || "window" || ',"position":' || position || ',"url":' || to_json(url)
        || if(canonicals_match_present is false, ',"canonicals_match_present":false', '') || ',"entry":'
        || to_json(struct_update(entry, last_crawl_time := strftime(entry.last_crawl_time, '%Y-%m-%dT%H:%M:%S.%gZ')))
        || '}' as line
    from night_listing
    union all
    select
      "window",
      2147483647,
      to_json({
        kind: 'window',
        walk: 1,
        "window": "window",
        keep: 1000 * "window",
        "at": strftime(min(listed_at), '%Y-%m-%dT%H:%M:%S.%gZ'),
        drift: []
      })
    from night_listing
    group by "window"
  )
  order by "window", position
) to $file (format csv, header false, quote '', escape '', delimiter E'\x01')
