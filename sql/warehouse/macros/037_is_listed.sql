-- Whether a page of this status is in the listing. Null, of a page that is not known yet, is not.
create or replace macro is_listed(status) as coalesce(status not in ('gone', 'retired'), false)
