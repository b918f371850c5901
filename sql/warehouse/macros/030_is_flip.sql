-- Whether a change of a page is that of a canonical from one URL to another.
create or replace macro is_flip(change, from_value, to_value) as
  change in ('searchengine_canonical', 'user_canonical') and from_value is not null and to_value is not null
