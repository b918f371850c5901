-- Since when a page is there, though only in quarantined entries, after a complete listing lacked it.
alter table page_state add column unlisted_since timestamptz
