-- The pages that came into the index or left it between two complete listings. `pairs` is a list of these: structs with
-- `website_id`, `before_id` and `listing_id`. `move` as in `index_moves`; `step` is 1 for a page that entered, -1 for one that
-- fell out, and 0 for one that did both; `falls` is how often it fell, which a page that is retired did not. `first_step` and
-- `last_step` are the versions that did so, `made` the one that counts: the last one, or of a page that came back, its last fall;
-- `is_first` is true of one that was inspected for the first time, `is_uncrawled` of one that was not crawled since.
create or replace macro net_moves(pairs) as table
select
  *,
  case step
    when -1 then if(last_step.status = 'retired', 'retired', 'fell_out')
    when 1 then if(first_step.is_first, 'first_inspected', 'entered')
    when 0 then case when first_step.status = 'indexed' then 'passed' when falls > 0 then 'returned' end
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
    arg_min(taken, taken.snapshot_id) as first_step,
    arg_max(taken, taken.snapshot_id) as last_step,
    arg_max(taken, taken.snapshot_id) filter (is_fall) as last_fall
  from (
    select
      website_id,
      before_id,
      listing_id,
      url,
      if(status = 'indexed', 1, -1) as step,
      step = -1 and status <> 'retired' as is_fall,
      {
        snapshot_id: versions.snapshot_id,
        snapshot_date: snapshot_date,
        observed_at: observed_at,
        status: status,
        was_status: was_status,
        state: state_text(status, index_coverage_state),
        is_uncrawled: is_uncrawled(status, was_status, changes),
        is_first: list_contains(changes, 'first_data')
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
