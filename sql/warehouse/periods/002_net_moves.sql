-- The pages that came into the index or left it between two complete listings. `pairs` is a list of these: structs with
-- `website_id`, `before_id` and `listing_id`. `step` is 1 for a page that entered, -1 for one that fell out, and 0 for one
-- that did both; the first step of a page that was inspected for the first time as indexed is `first_data`. `falls` is how often it left. `first_step`, `last_step` and `last_fall` are changes, `ends_as` is what the
-- page is in the later listing: `indexed`, `deindexed`, `data_lost` or `gone`.
create or replace macro net_moves(pairs) as table
select
  website_id,
  listing_id,
  url,
  sum(made.step)::integer as step,
  count_if(made.step = -1)::integer as falls,
  arg_min(made, made.place) filter (made.step is not null) as first_step,
  arg_max(made, made.place) filter (made.step is not null) as last_step,
  arg_max(made, made.place) filter (made.step = -1) as last_fall,
  arg_max(ends_as, made.place) as ends_as
from (
  select
    website_id,
    listing_id,
    url,
    {
      change: change,
      step: index_step(change, from_value, to_value),
      snapshot_date: snapshot_date,
      observed_at: observed_at,
      place: {snapshot_id: snapshot_id, observed_at: observed_at}
    } as made,
    case
      when change = 'disappeared' then 'gone'
      when to_value is null then 'data_lost'
      when change <> 'coverage_state' and to_value = 'Indexed' then 'indexed'
      else 'deindexed'
    end as ends_as
  from page_changes
  join (
    select snapshots.snapshot_id, listing_id
    from (select unnest(pairs, recursive := true)) as pair
    join snapshots
      on snapshots.website_id = pair.website_id
      and snapshots.snapshot_id > before_id
      and snapshots.snapshot_id <= listing_id
  ) using (snapshot_id)
  where
    change in ('indexed', 'deindexed', 'data_lost', 'appeared', 'disappeared', 'first_data')
    -- First data.
    or (change = 'coverage_state' and from_value is null)
)
group by website_id, listing_id, url
having step is not null
