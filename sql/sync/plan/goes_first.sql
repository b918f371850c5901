-- Whether `reports.priority.first` names a page.
create or replace temp macro goes_first(page) as
  coalesce(regexp_matches(page, getvariable('first_pages')::varchar), false)
