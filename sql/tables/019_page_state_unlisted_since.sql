-- When the page came back after a complete listing lacked it, if it has only been listed in quarantined entries since.
alter table page_state add column unlisted_since timestamptz
