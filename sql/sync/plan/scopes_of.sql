-- Those of some scopes, the widest first, that hold a page; those of domains begin with a dot. As `covers` has it.
create or replace temp macro scopes_of(page, scopes) as
  list_filter(
    scopes,
    lambda scope: if(
      starts_with(scope, '.'),
      ends_with('.' || regexp_extract(page, '^https?://(?:[^/@]*@)?([^/:]*)', 1), scope),
      starts_with(page, scope)
    )
  )
