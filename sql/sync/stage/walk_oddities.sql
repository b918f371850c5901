-- Whether any entry of the kept walk is odd, or may be a duplicate because its URL has the hash of another.
select
  coalesce(bool_or(is_odd), false) as has_odd_entries,
  count(url_hash) > count(distinct url_hash) as has_doubled_urls
from walk_lines
join journal_windows using ("window")
where kind in ('entry', 'reject') and position < kept_below
