-- Whether a page belongs to the range of URLs that is being worked on; without bounds every page does. A range at a
-- time keeps the joins within the memory limit, however many pages there are.
create or replace temp macro in_range(page) as
  (getvariable('range_from')::varchar is null or page >= getvariable('range_from')::varchar)
  and (getvariable('range_to')::varchar is null or page < getvariable('range_to')::varchar)
