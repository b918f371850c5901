-- The days of search analytics that need not be fetched again.
select "date"::varchar as "date", "type" from search_dates where is_final
