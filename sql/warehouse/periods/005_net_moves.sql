-- The pages that came into the index or left it between two complete listings. `pairs` is a list of these: structs with
-- `website_id`, `before_id` and `listing_id`. `move` as in `index_moves`; `step` is 1 for a page that entered, -1 for one that
-- fell out, and 0 for one that did both; `falls` is how often it fell, which a page that is retired did not. `made` is the version
-- that counts: the last one that did so, or of a page that came back, its last fall; `is_uncrawled` is true of one that was not
-- crawled since. The statuses of the last one are columns of their own, because `made` takes as long as all other columns.
create or replace macro net_moves(pairs) as table
select
  *,
  case step
    when -1 then if(last_status = 'retired', 'retired', 'fell_out')
    when 1 then if(is_first, 'first_inspected', 'entered')
    when 0 then case when first_status = 'indexed' then 'passed' when falls > 0 then 'returned' end
  end as move,
  if(step = 0, coalesce(last_fall, last_step), last_step) as made
from (
  select
    website_id,
    before_id,
    listing_id,
    url,
    sum(step)::integer as step,
    count_if(is_fall)::integer as falls,
    arg_min(status, snapshot_id) as first_status,
    arg_min(is_first, snapshot_id) as is_first,
    arg_max(status, snapshot_id) as last_status,
    arg_max(was_status, snapshot_id) as last_was_status,
    arg_max(taken, snapshot_id) as last_step,
    arg_max(taken, snapshot_id) filter (is_fall) as last_fall
  from (
    select
      website_id,
      before_id,
      listing_id,
      url,
      versions.snapshot_id as snapshot_id,
      status,
      was_status,
      list_contains(changes, 'first_data') as is_first,
      if(status = 'indexed', 1, -1) as step,
      step = -1 and status <> 'retired' as is_fall,
      {
        snapshot_id: versions.snapshot_id,
        snapshot_date: snapshot_date,
        observed_at: observed_at,
        state: state_text(status, index_coverage_state),
        is_uncrawled: is_uncrawled(status, was_status, changes)
      } as taken
    from page_versions as versions
    join (select unnest(pairs, recursive := true)) as pair using (website_id)
    where
      versions.snapshot_id > before_id
      and versions.snapshot_id <= listing_id
      and (status = 'indexed') <> coalesce(was_status = 'indexed', false)
  )
  group by website_id, before_id, listing_id, url
)
