-- Whether a website is the one that is asked for by its id or by a name it ever had; an id wins over a name that is the
-- same. Null asks for all.
create or replace macro is_website(id, asked) as
  asked is null
  or id = asked
  or (
    asked not in (select website_id from snapshots)
    and id in (select website_id from snapshots where website_name = asked)
  )
