-- Which pages fell out of the index in a period of dates, and which entered it: one row per page that was known by the end
-- of it, of each website that `period_listings` compares. A page fell out if it is indexed in the listing before the period
-- and not in its last one, listed there or not, and entered if it is the other way round; a page whose record was
-- quarantined keeps its last state. `move`: `fell_out`, `entered`, `first_inspected` (not inspected before, and indexed),
-- `retired` (left the listing of a property, and was indexed), `returned` (fell out and came back), `passed` (came and fell out again), or null. `from_state` is its state at the start,
-- `to_state` the one that it fell or came to, `end_state` the one at the end.
create or replace macro index_moves(since_date, until_date) as table
from moves_between((select list(period) from period_listings(since_date, until_date) as period))
