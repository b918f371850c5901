-- Whether a page belongs to the current range of URLs; without bounds, every page does. Working range by range keeps
-- the joins within the memory limit, however many pages there are.
create or replace temp macro in_range(page) as
  (getvariable('range_from')::varchar is null or page >= getvariable('range_from')::varchar)
  and (getvariable('range_to')::varchar is null or page < getvariable('range_to')::varchar)
