-- What the kept walk lists, accepted and rejected, before duplicate URLs are removed.
create or replace temp view kept_entries as
select journal_listing.* exclude (drift, "at", keep, source), journal_windows.listed_at
from journal_listing
join journal_windows using ("window")
where
  journal_listing.kind in ('entry', 'reject')
  and journal_listing.walk = getvariable('walk')
  and journal_listing.position < journal_windows.kept_below
