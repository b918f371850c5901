-- Whether a version of a page tells of a change without a crawl since the listing or inspection before: what changed is the
-- search engine's answer, and perhaps not the page. A page that came or went is no answer, and a first one changes nothing.
create or replace macro is_uncrawled(status, was_status, changes) as
  is_listed(status)
  and is_listed(was_status)
  and not list_has_any(changes, ['crawled', 'first_data'])
