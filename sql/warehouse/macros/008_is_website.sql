-- Whether a website is the requested one, given by its id or by any name it ever had; an id takes precedence over an
-- equal name. Null matches all.
create or replace macro is_website(id, asked) as
  asked is null
  or id = asked
  or (
    asked not in (select website_id from snapshots)
    and id in (select website_id from snapshots where website_name = asked)
  )
