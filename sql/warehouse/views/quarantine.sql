-- Quarantine: every rejected record, with its text as it was received.
create or replace view quarantine as
from rejected_records
