-- How pages moved in a period of dates, of each website that `period_listings` compares: the rows of `net_moves`, which do
-- without the pages that did not move. `index_moves` has all, and what they were.
create or replace macro period_moves(since_date, until_date) as table
from net_moves((select list(period) from period_listings(since_date, until_date) as period))
