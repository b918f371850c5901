-- Whether `reports.priority.never` names a page.
create or replace temp macro never_fetched(page) as
  coalesce(regexp_matches(page, getvariable('never_pages')::varchar), false)
