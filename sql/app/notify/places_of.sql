-- Summarises the pages in the relation of this name, with `url`, `directory`, `state` and `is_uncrawled`: how many, their
-- most frequent directory and state, five of them, and whether hardly any was crawled since.
create or replace temp macro places_of(found) as table
with by_directory as (
  select directory, count(*) as pages from query_table(found) group by directory
),
by_state as (
  select state, count(*) as pages from query_table(found) group by state
),
examples as (
  select url, by_directory.pages
  from query_table(found)
  join by_directory using (directory)
  order by by_directory.pages desc, url
  limit 5
)
select
  (select count(*)::integer from query_table(found)) as pages,
  (select arg_max(directory, (pages, directory)) from by_directory) as directory,
  (select max(pages)::integer from by_directory) as directory_pages,
  (select arg_max(state, (pages, state)) from by_state) as state,
  (select coalesce(list(url order by pages desc, url), []) from examples) as examples,
  (select uncrawled_clause(count(*), count_if(is_uncrawled)) from query_table(found)) as crawls
