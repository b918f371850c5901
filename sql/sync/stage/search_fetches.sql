select "date", "type", is_final, is_cut, pages, clicks, impressions, "at" as fetched_at, unknown
from journal_search
where kind = 'day'
