-- Whether any page is in a directory and in a coverage state (null: not requested), and which directories and states
-- there are, those with most pages first.
with known as (
  select
    directory_of(url) as directory,
    coalesce(state_or_status(status, index_coverage_state), '(none)') as state,
    count(*) as pages,
    count_if(is_selected(url, null, $directory::varchar, null, null)) as in_directory,
    count_if(is_selected(url, state_or_status(status, index_coverage_state), null, null, $state::varchar)) as in_state
  from page_state
  where is_website(website_id, $website::varchar)
  group by directory, state
)
select
  coalesce(sum(in_directory), 0) > 0 as has_directory,
  coalesce(sum(in_state), 0) > 0 as has_state,
  (select list(directory order by pages desc, directory)[:50] from (from known select directory, sum(pages) as pages group by directory))
    as directories,
  (select list(state order by pages desc, state)[:50] from (from known select state, sum(pages) as pages group by state))
    as states
from known
