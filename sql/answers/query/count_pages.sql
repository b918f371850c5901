-- How many pages are selected now.
select count(*)::integer as pages from selected_pages($filters::json, null)
