-- Whether a website is the one that is asked for by its id or by a name it ever had; null asks for all.
create or replace macro is_website(id, asked) as
  asked is null
  or id = asked
  or id in (select website_id from snapshots where website_name = asked)
