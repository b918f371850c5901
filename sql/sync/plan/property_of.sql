-- The property whose quota the inspection of a page uses: the longest URL prefix of `properties`, or the website's own.
create or replace temp macro property_of(page) as
  coalesce(
    list_filter(getvariable('properties')::varchar[], lambda prefix: starts_with(page, prefix))[1],
    getvariable('own_property')::varchar
  )
