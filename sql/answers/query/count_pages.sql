-- How many pages are selected in the last complete listing up to a date; null: in the newest one.
select count(*)::integer as pages
from selected_pages(json_merge_patch($filters::json, json_object('listed', $listed::varchar)), null)
