-- title: Events
-- description: Nights on which the number of indexed pages, or of pages in a coverage state, broke its own trend: on a website, in a directory, in a state. `change` is the number of pages that came less those that left, `expected_change` what earlier nights let expect, `z` how many times their usual deviation it is off. `moved` pages made up the event: of them, `directory_pages` are in `directory`, and `state_pages` left to or came from `state`; `crawls` says so if they are many, and hardly any was crawled since the night before. A directory or state is left out if a wider event of that night covers it. `notes` are those of the three days before it (`indexhouse note`). The method is in docs/contract.md.
-- question: What changed?
-- param since (date, default 89 days ago): first date
-- param until (date, default today): last date
-- param min_z (number, default 5): least deviation from the expected change, in usual deviations
-- param min_pages (integer, default 5): least deviation from the expected change, in pages
-- param all_scopes (boolean, default false): also directories and states that a wider event of that night covers
-- param limit (integer, default none): at most this many rows
-- grain: one row per website, date and website, directory or state that broke its trend
-- show snapshot_date (date): date
-- show sentence (text): event
-- show url (url): example
-- show notes (text): notes
with listings as materialized (
  select
    *,
    snapshot_date - before_date as nights,
    row_number() over (partition by website_id order by snapshot_id) as number
  from daily_listings
  where is_website(website_id, $website::varchar) and before_date is not null and snapshot_date <= $until::date
),
-- The listings of the period, and the 28 before them as the baseline.
looked_at as materialized (
  select *
  from listings
  where number >= (
    select min(number) - 28
    from listings as asked
    where asked.website_id = listings.website_id and asked.snapshot_date >= $since::date
  )
),
counted_in as (
  select unnest(snapshot_ids) as snapshot_id, snapshot_id as listing_id
  from looked_at
),
moves as materialized (
  select
    website_id,
    listing_id,
    url,
    directory_of(url) as directory,
    case
      when (status = 'indexed') = coalesce(was_status = 'indexed', false) or status = 'retired' then null
      -- What is inspected for the first time is no change.
      when list_contains(changes, 'first_data') then null
      else if(status = 'indexed', 1, -1)
    end as step,
    was_index_coverage_state as from_state,
    index_coverage_state as to_state,
    is_listed(was_status) and is_listed(status) as was_there,
    case
      when not is_listed(was_status) then 'new in the listing'
      when not is_listed(status) then 'no longer listed'
      when from_state is not distinct from to_state then 'the same state'
      else coalesce(if(step > 0, from_state, to_state), 'no data')
    end as other_state,
    is_uncrawled(status, was_status, changes) as is_uncrawled
  from page_versions
  join counted_in using (snapshot_id)
  where status is distinct from was_status or index_coverage_state is distinct from was_index_coverage_state
),
-- How a page's move changes the number of indexed pages and of pages in two states.
steps as materialized (
  select website_id, listing_id, url, directory, null as state, step, step as index_step, other_state, is_uncrawled
  from moves
  where step is not null
  union all
  -- A page's first data is not a move between states.
  select
    website_id,
    listing_id,
    url,
    directory,
    unnest([from_state, to_state]),
    unnest([-1, 1]),
    step,
    unnest([to_state, from_state]),
    is_uncrawled
  from moves
  where was_there and from_state <> to_state
),
scoped as (
  select
    website_id,
    listing_id,
    case when state is not null then 'state' when grouping(directory) = 0 then 'directory' else 'website' end as what,
    coalesce(state, directory) as name,
    sum(step)::integer as change,
    count(*) as moves
  from steps
  group by grouping sets ((website_id, listing_id, state), (website_id, listing_id, state, directory))
  having state is null or grouping(directory) = 1
),
-- Every night of each website, directory and state that ever moved that much, nights without a change included.
series as (
  select looked_at.*, moving.what, moving.name, coalesce(change, 0) as change, coalesce(moves, 0) as moves
  from (select distinct website_id, what, name from scoped where abs(change) >= $min_pages::bigint) as moving
  join looked_at using (website_id)
  left join scoped
    on scoped.website_id = looked_at.website_id
    and scoped.listing_id = looked_at.snapshot_id
    and scoped.what = moving.what
    and scoped.name is not distinct from moving.name
),
with_past as (
  select
    *,
    list(change / nights) over past as past_changes,
    list(moves / nights) over past as past_moves
  from series
  window past as (
    partition by website_id, what, name order by snapshot_date rows between 28 preceding and 1 preceding
  )
  qualify snapshot_date >= $since::date and len(past_changes) >= 7
),
scored as (
  select
    *,
    list_median(past_changes) as usual,
    [abs(one - usual) for one in past_changes] as deviations,
    greatest(
      1.4826 * list_median(deviations),
      sqrt(list_median(past_moves)),
      0.4 * list_aggregate(deviations, 'quantile_cont', 0.9),
      1
    ) * sqrt(nights * (1 + 1.6 * nights / len(past_changes))) as deviation,
    change - usual * nights as off
  from with_past
),
broke as materialized (
  select *, off / deviation as z, row_number() over () as event
  from scored
  where abs(off) >= greatest($min_pages::bigint, 1) and abs(off) >= $min_z::double * deviation
),
-- What each event consists of: pages by directory and by the state at the other end, ranked by the net change
-- in the event's direction; `pages` counts only those that moved in that direction.
parts as materialized (
  select
    event,
    steps.directory,
    other_state as state,
    sum(step) * sign(any_value(off)) as net,
    count(*) filter (step = sign(off)) as pages,
    count(*) filter (step = sign(off) and is_uncrawled) as uncrawled,
    sum(index_step) as index_change,
    min(url) filter (step = sign(off)) as url
  from broke
  join steps
    on steps.website_id = broke.website_id
    and steps.listing_id = broke.snapshot_id
    and (broke.what = 'state') = (steps.state is not null)
    and if(broke.what = 'directory', steps.directory, steps.state) is not distinct from broke.name
  group by event, steps.directory, other_state
),
in_directory as (
  select event, directory, sum(pages)::integer as directory_pages
  from parts
  group by event, directory
  qualify row_number() over (partition by event order by sum(net) desc, directory) = 1
),
in_state as (
  select event, state, sum(pages)::integer as state_pages
  from parts
  group by event, state
  qualify row_number() over (partition by event order by sum(net) desc, state) = 1
),
whole as (
  select
    event,
    sum(pages)::integer as moved,
    uncrawled_clause(sum(pages)::integer, sum(uncrawled)::integer) as crawls,
    sum(index_change) as index_change
  from parts
  group by event
),
examples as (
  select
    event,
    coalesce(min(url) filter (parts.directory = in_directory.directory and parts.state = in_state.state), min(url)) as url
  from parts
  join in_directory using (event)
  join in_state using (event)
  group by event
),
stood as (
  select
    event,
    sum(pages) filter (is_of and not is_after)::integer as pages_before,
    sum(pages) filter (is_of and is_after)::integer as pages_after,
    bool_or(what = 'directory' and directory = '(other)') as has_others
  from (
    select
      event,
      what,
      directory,
      pages,
      snapshot_id = asked_id as is_after,
      if(what = 'state', index_coverage_state = name, index_summary = 'Indexed' and (what = 'website' or directory = name))
        as is_of
    from (select event, what, name, snapshot_id as asked_id, unnest([before_id, snapshot_id]) as snapshot_id from broke)
    join coverage_summary using (snapshot_id)
  )
  group by event
)
select
  broke.website_id,
  broke.snapshot_date,
  broke.nights,
  broke.what,
  broke.name,
  coalesce(pages_before, if(has_others, null, 0)) as pages_before,
  coalesce(pages_after, if(has_others, null, 0)) as pages_after,
  broke.change,
  round(usual * nights, 1) as expected_change,
  round(z, 1) as z,
  if(off < 0, 'left', 'came') as direction,
  coalesce(moved, 0) as moved,
  crawls,
  if(directory_pages > 0, directory, null) as directory,
  if(directory_pages > 0, directory_pages, null) as directory_pages,
  if(state_pages > 0, state, null) as state,
  if(state_pages > 0, state_pages, null) as state_pages,
  url,
  format(
    '{}{:,} {}{}{}{}{}{}{} (usually {}{:,})',
    case sign(change) when -1 then '−' when 1 then '+' else '±' end,
    abs(change),
    if(what = 'state', name, 'indexed'),
    if(what = 'directory', ' in ' || name, ''),
    if(nights > 1, format(' in {} nights', nights), ''),
    if(moved > 0, format(': {:,} {}', moved, direction), ''),
    if(what <> 'directory' and directory_pages > 0, format(', {:,} of them in {}', directory_pages, directory), ''),
    if(state_pages > 0, format(', {:,} {} {}', state_pages, if(off < 0, 'to', 'from'), state), ''),
    coalesce('; ' || crawls, ''),
    if(usual * nights < -0.5, '−', '+'),
    abs(round(usual * nights))::bigint
  ) as sentence,
  (
    select string_agg(format('{}: “{}”', strftime(note_date, '%b %-d'), note), ', ' order by note_date, note_id)
    from notes
    where
      notes.website_id = broke.website_id
      and broke.snapshot_date - note_date between 0 and greatest(nights, 3)
      and (notes.directory is null or what <> 'directory' or directory_of('https://site' || notes.directory) = name)
  ) as notes
from broke
left join in_directory using (event)
left join in_state using (event)
left join whole using (event)
left join examples using (event)
left join stood using (event)
where
  $all_scopes::boolean
  or what = 'website'
  or not exists (
    from broke as wider
    where
      wider.website_id = broke.website_id
      and wider.snapshot_id = broke.snapshot_id
      and case
        when broke.what = 'directory' then wider.what = 'website' and sign(wider.off) = sign(broke.off)
        when wider.what = 'state' then wider.off > 0 and broke.off < 0 and wider.name = in_state.state
        else sign(wider.off) = sign(index_change) and 2 * abs(index_change) >= abs(broke.change)
      end
  )
order by
  broke.snapshot_date desc,
  broke.website_id,
  case what when 'website' then 1 when 'directory' then 2 else 3 end,
  abs(off) desc,
  name
limit $limit::bigint
