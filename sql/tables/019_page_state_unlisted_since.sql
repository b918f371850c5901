-- Since when a page is back, but only in quarantined entries, after a complete listing lacked it.
alter table page_state add column unlisted_since timestamptz
