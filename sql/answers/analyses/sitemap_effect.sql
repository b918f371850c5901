-- title: Effect of joining a sitemap
-- description: Whether pages that joined a sitemap fare better than pages that were like them. A page joins when a report names the sitemap and an earlier one did not; pages whose first report names it have no before, and count on no side. Joined pages are compared with pages whose reports never saw a sitemap come or go, that began in the same state, at the same age, and likewise in another sitemap or in none: of their own directory if it has enough, else of other directories where nothing else happened. `effect_points` is the share indexed `days` later less that of the others, in percentage points, and lies between `at_least_points` and `at_most_points` in 95 of 100 cases. `verdict`: `helped`, `fell behind`, `no clear difference`, or `cannot tell` (fewer than 30 pages compared, or a range of more than 20 points). With 200 pages it sees a difference of 10 points in two of three cases, and one of 2 almost never. The method is in docs/contract.md.
-- question: Sitemaps
-- param website (text, default all): id or name of one website
-- param sitemap (text, default all): URL of one sitemap
-- param since (date, default 89 days ago): joined on or after this date
-- param until (date, default today): joined on or before this date
-- param days (integer, default 28): days after joining that are waited for, or until the newest listing
-- param min_pages (integer, default 5): leaves out nights on which fewer pages were seen to join
-- param limit (integer, default 10): at most this many rows, those with most pages; none for all
-- grain: one row per website, sitemap and night on which pages were seen to join
-- show website_id (website): website
-- show sitemap (url): sitemap
-- show joined_on (date): joined
-- show pages (count): pages
-- show pages_compared (count): compared
-- show share_before (share): indexed before
-- show share_after (share): indexed after
-- show expected_after (share): expected
-- show effect_points (number): effect, points
-- show at_least_points (number): at least
-- show at_most_points (number): at most
-- show verdict (text): verdict
-- show caveat (text): keep in mind
with listings as (
  select *, min(snapshot_date) over (partition by website_id) as first_date
  from daily_listings
  where is_website(website_id, $website::varchar)
),
moves as materialized (
  select
    website_id,
    url,
    snapshot_date as seen_on,
    observed_at,
    from_snapshot_id,
    from_value::json::varchar[] as was_in,
    coalesce(to_value::json::varchar[], []) as is_in
  from page_changes
  where change = 'sitemaps' and from_value is not null and is_website(website_id, $website::varchar)
),
seen as (
  select
    named.website_id,
    sitemap,
    url,
    min(seen_on) as seen_on,
    arg_min(earlier.snapshot_date, observed_at) as last_out_on,
    arg_min(len(was_in) > 0, observed_at) as was_in_another
  from (select *, unnest(list_filter(is_in, lambda one: not list_contains(was_in, one))) as sitemap from moves) as named
  join snapshots as earlier on earlier.snapshot_id = from_snapshot_id
  where $sitemap::varchar is null or sitemap = $sitemap::varchar
  group by named.website_id, sitemap, url
),
batches as (
  select website_id, sitemap, seen_on as joined_on, count(*) as batch
  from seen
  where seen_on between $since::date and $until::date
  group by website_id, sitemap, seen_on
  having batch >= greatest($min_pages::bigint, 1)
),
cohorts as materialized (
  select
    row_number() over (order by batches.website_id, sitemap, joined_on) as cohort,
    batches.*,
    earlier.snapshot_id as before_id,
    earlier.snapshot_date as before_date,
    later.snapshot_id as after_id,
    later.snapshot_date as after_date,
    greatest(earlier.first_date, earlier.snapshot_date - (later.snapshot_date - earlier.snapshot_date)::integer) as ago
  from batches
  asof join listings as earlier
    on earlier.website_id = batches.website_id and earlier.snapshot_date <= joined_on
  asof join listings as later
    on later.website_id = batches.website_id and later.snapshot_date <= joined_on + $days::integer
  where later.snapshot_date > earlier.snapshot_date
  order by batch desc, joined_on desc, sitemap, batches.website_id
  limit $limit::bigint
),
-- A page belongs to the largest batch that it can have joined with: most of a batch are seen on one night, the others
-- when their next report comes.
joined as materialized (
  select cohort, seen.website_id, seen.url, was_in_another, seen_on > joined_on as is_late
  from seen
  join cohorts using (website_id, sitemap)
  where joined_on > last_out_on and joined_on <= seen_on
  qualify row_number() over (partition by seen.website_id, sitemap, seen.url order by batch desc, joined_on) = 1
),
-- What is estimated: the time since, and as many days before, when there was nothing to find.
periods as materialized (
  select
    cohort,
    website_id,
    joined_on,
    true as is_after,
    before_id as start_id,
    before_date as start_date,
    after_id as end_id,
    after_date as end_date
  from cohorts
  union all
  select cohort, cohorts.website_id, joined_on, false, snapshot_id, snapshot_date, cohorts.before_id, cohorts.before_date
  from cohorts
  asof join listings on listings.website_id = cohorts.website_id and listings.snapshot_date <= ago
  where cohorts.before_date - snapshot_date >= 3
),
-- The listings that the periods lie between, in order.
dated as materialized (
  select website_id, list(distinct id order by id) as ids
  from (select website_id, unnest([start_id, end_id]) as id from periods)
  group by website_id
),
numbered as materialized (
  select periods.*, list_position(ids, start_id) as start_place, list_position(ids, end_id) as end_place
  from periods
  join dated using (website_id)
),
-- What changed about each page: its states after the first of these listings, and whether it joined. `place` says how many
-- of the listings are older than the change.
changed as (
  select
    website_id,
    url,
    list_sort(list({number: number, place: place, was: was}) filter (number is not null)) as steps,
    -- Null if no sitemap came or went, false if the page is in none of the batches.
    bool_or(is_joined) as is_joined
  from (
    select
      website_id,
      url,
      number,
      place,
      if(is_listed(was_status), state_group(was_status, was_index_coverage_state), 5)::utinyint as was,
      null::boolean as is_joined
    from page_versions
    join (
      select
        website_id,
        snapshot_id,
        row_number() over (order by snapshot_id) as number,
        len(list_filter(ids, lambda id: id < snapshot_id)) as place
      from snapshots
      join dated using (website_id)
      where snapshot_id > ids[1]
    ) using (website_id, snapshot_id)
    where status is distinct from was_status or index_coverage_state is distinct from was_index_coverage_state
    union all by name
    select website_id, url, true as is_joined from joined
    union all by name
    select website_id, url, false as is_joined from moves
  )
  group by website_id, url
),
-- Pages that are alike count together, except those that joined. `states`: their `state_group` in each listing of `dated`, 5 if
-- it lacks them: what the first change after it says that the page was, or else what it is now.
known as materialized (
  select
    website_id,
    if(is_joined, url, null) as url,
    directory_of(state.url) as directory,
    day_of(coalesce(report_page_detection, first_seen_at)) as detected_on,
    day_of(report_fetched_at) as reported_on,
    len(report_sitemaps) > 0 as is_in_one,
    is_joined,
    if(
      steps is null,
      list_resize([is_now], len(ids), is_now),
      [coalesce(list_filter(steps, lambda step: step.place >= place)[1].was, is_now) for place in range(1, len(ids) + 1)]
    ) as states,
    count(*) as pages
  from (
    select *, if(is_listed(status), state_group(status, index_coverage_state), 5)::utinyint as is_now
    from page_state
  ) as state
  join dated using (website_id)
  left join changed using (website_id, url)
  where report_fetched_at is not null
  group by all
),
-- A night can have many batches. Pages that saw no sitemap come or go are the same for each, and are counted once a night.
compared as (
  select numbered.*, directory, detected_on, was_in_another as in_another, is_late, states, known.pages
  from numbered
  join (from joined join (from known where is_joined) as known using (website_id, url)) as known using (cohort, website_id)
  union all by name
  select spans.*, directory, detected_on, is_in_one as in_another, reported_on < joined_on as is_late, states, pages
  from (select distinct * exclude (cohort) from numbered) as spans
  join known on known.website_id = spans.website_id and is_joined is null
),
-- From here on few rows: pages that began alike, counted.
alike as materialized (
  select
    cohort,
    website_id,
    joined_on,
    is_after,
    directory,
    states[start_place] as state,
    case
      when start_date - detected_on <= 7 then 7
      when start_date - detected_on <= 30 then 30
      when start_date - detected_on <= 90 then 90
      else 999
    end as age,
    in_another,
    cohort is not null as is_joined,
    is_late and (is_joined or state > 0) as is_late,
    sum(pages)::bigint as pages,
    coalesce(sum(pages) filter (states[end_place] = 0), 0)::bigint as pages_after
  from compared
  where state < 5 and states[end_place] < 5
  group by all
),
counted as materialized (
  select alike.* replace (periods.cohort as cohort)
  from alike
  join periods using (website_id, joined_on, is_after)
  where coalesce(alike.cohort = periods.cohort, true)
),
-- A joining is seen with the next report, which a change of state brings about. Until nearly all others that were not
-- indexed have a report since, pages that are seen later are chosen by what became of them, and do not count.
noticed as (
  select cohort, coalesce(sum(pages) filter (not is_late), 0) >= 0.9 * sum(pages) as are_all
  from counted
  where is_after and not is_joined and state > 0
  group by cohort
),
cells as materialized (
  select
    cohort,
    is_after,
    directory,
    state,
    age,
    in_another,
    coalesce(sum(pages) filter (is_joined), 0) as all_joined,
    coalesce(sum(pages) filter (is_joined and not is_used), 0) as late,
    coalesce(sum(pages) filter (is_joined and is_used), 0) as joined,
    coalesce(sum(pages_after) filter (is_joined and is_used), 0) as joined_after,
    coalesce(sum(pages) filter (not is_joined and is_used), 0) as others,
    coalesce(sum(pages_after) filter (not is_joined and is_used), 0) as others_after
  from (
    select *, not is_late or is_joined = coalesce(are_all, true) as is_used
    from counted
    left join noticed using (cohort)
  )
  group by cohort, is_after, directory, state, age, in_another
),
-- Nights on which unusually many of a directory's listed pages entered the index or fell out: 5 times the usual
-- deviation, 5 pages and 2%. Joined pages count only when they fall: so many at once is not the sitemap's doing.
shocks as (
  select website_id, directory, snapshot_date as broke_on, net
  from (
    select website_id, directory_of(url) as directory, snapshot_date, sum(step) as net, count(*) as steps
    from (
      select website_id, url, snapshot_date, if(status = 'indexed', 1, -1) as step
      from page_versions
      where
        (status = 'indexed') <> (was_status = 'indexed')
        and is_listed(status)
        and is_listed(was_status)
        and not list_contains(changes, 'first_data')
        and website_id in (select website_id from cohorts)
    )
    anti join (select website_id, url, 1 as step from joined) using (website_id, url, step)
    group by website_id, directory, snapshot_date
  )
  join (select website_id, directory, sum(pages) as pages from known group by all) using (website_id, directory)
  join (select website_id, count(*) as dates from listings group by all) using (website_id)
  qualify abs(net) >= greatest(5, 0.02 * pages, 5 * sqrt(
    1 + (sum(steps) over (partition by website_id, directory) - steps) / greatest(dates - 1, 1)
  ))
),
shocked as materialized (
  select cohort, is_after, directory, arg_max({broke_on: broke_on, net: net}, abs(net)) as worst
  from shocks
  join periods using (website_id)
  where broke_on > start_date and broke_on <= end_date
  group by cohort, is_after, directory
),
elsewhere as (
  select cohort, is_after, state, age, in_another, sum(others) as pages, sum(others_after) as pages_after
  from cells
  anti join shocked using (cohort, is_after, directory)
  group by cohort, is_after, state, age, in_another
  having count_if(others > 0) >= 3 and pages >= 10
),
-- What the joined pages of each cell are compared with: `same` directory, `other` directories, or nothing.
matched as materialized (
  select
    cells.* exclude (others, others_after),
    worst,
    case
      when joined = 0 then null
      when cells.others >= 5 and 4 * cells.others >= joined then 'same'
      when worst is null and elsewhere.pages > 0 then 'other'
    end as how,
    if(how = 'same', cells.others, elsewhere.pages) as others,
    if(how = 'same', cells.others_after, elsewhere.pages_after) as others_after
  from cells
  left join elsewhere using (cohort, is_after, state, age, in_another)
  left join shocked using (cohort, is_after, directory)
  where all_joined > 0
),
-- `n` joined pages and `m` others, with the variance of their difference; rates are drawn towards their common one.
strata as materialized (
  select
    cohort,
    is_after,
    how,
    state,
    age,
    in_another,
    sum(joined) as n,
    sum(joined_after) as n_after,
    any_value(others) as m,
    any_value(others_after) as m_after,
    (n_after + m_after + 0.5) / (n + m + 1) as rate,
    (n_after + 2 * rate) / (n + 2) as n_rate,
    (m_after + 2 * rate) / (m + 2) as m_rate,
    n * n_rate * (1 - n_rate) + n ** 2 * m_rate * (1 - m_rate) / m as variance
  from matched
  where how is not null
  group by cohort, is_after, how, if(how = 'same', directory, null), state, age, in_another
),
-- How far the directories that are compared across differ from each other, beyond chance (DerSimonian and Laird).
directories as (
  select
    cohort,
    is_after,
    directory,
    sum(n * (others_after / others - m_after / m)) / sum(n) as off,
    sum(n * others / m) as weight,
    sum(n) ** 2 / sum(n ** 2 * rate * (1 - rate) / others) as w
  from cells
  join strata using (cohort, is_after, state, age, in_another)
  anti join shocked using (cohort, is_after, directory)
  where how = 'other' and others > 0
  group by cohort, is_after, directory
),
spread as (
  select
    cohort,
    is_after,
    count(*) - 1 as freedom,
    sum(weight ** 2) as weights,
    greatest(0, sum(w * off ** 2) - sum(w * off) ** 2 / sum(w) - freedom) / (sum(w) - sum(w ** 2) / sum(w)) as tau2
  from directories
  group by cohort, is_after
),
placed as (
  select cohort, is_after, sum(n ** 2) as places
  from (select cohort, is_after, directory, sum(joined) as n from matched where how = 'other' group by all)
  group by cohort, is_after
),
estimates as (
  select
    cohort,
    is_after,
    sum(n) as compared,
    sum(m) as similar,
    sum(n) filter (state = 0) / compared as share_before,
    sum(n_after) / compared as share_after,
    sum(n * m_after / m) / compared as expected_after,
    coalesce(sum(n) filter (how = 'same'), 0) / compared as share_same,
    sum(variance) / compared ** 2 as within,
    coalesce(any_value(tau2 * (weights + places)), 0) / compared ** 2 as between_them,
    -- A few directories say little, even if they happen not to differ.
    greatest(between_them, sum(variance) filter (how = 'other') / compared ** 2) as of_few,
    coalesce(any_value(freedom) * ((within + between_them) / of_few) ** 2, 1e9) as freedom_left,
    100 * (share_after - expected_after) as effect,
    100 * student_t(freedom_left) * sqrt(within + between_them) as half
  from strata
  left join spread using (cohort, is_after)
  left join placed using (cohort, is_after)
  group by cohort, is_after
),
happened as (
  select
    cohort,
    string_agg(what, ', ' order by directory) filter (is_theirs) as theirs,
    string_agg(what, ', ' order by directory) filter (not is_theirs) as elsewhere
  from (
    select
      cohort,
      directory,
      format('{} ({:+d} indexed on {})', directory, worst.net::bigint, worst.broke_on::varchar) as what,
      (cohort, directory) in (select (cohort, directory) from matched where is_after) as is_theirs
    from shocked
    where is_after
  )
  group by cohort
)
select
  website_id,
  sitemap,
  joined_on,
  before_date,
  after_date,
  pages,
  coalesce(now.compared, 0)::bigint as pages_compared,
  now.similar::bigint as similar_pages,
  round(now.share_same, 4) as share_same_directory,
  round(now.share_before, 4) as share_before,
  round(now.share_after, 4) as share_after,
  round(now.expected_after, 4) as expected_after,
  round(now.effect, 1) as effect_points,
  round(now.effect - now.half, 1) as at_least_points,
  round(now.effect + now.half, 1) as at_most_points,
  round(ago.effect, 1) as before_effect_points,
  case
    when pages_compared < greatest(30, pages / 2) then 'cannot tell'
    when at_least_points > 0 then 'helped'
    when at_most_points < 0 then 'fell behind'
    when at_most_points - at_least_points > 20 then 'cannot tell'
    else 'no clear difference'
  end as verdict,
  nullif(concat_ws(
    ' ',
    if(pages_compared < 30, if(pages_compared = 0, 'No page', 'Only ' || plural(pages_compared, 'page')) || ' could be compared.', null),
    if(2 * pages_compared < pages, 'Most of the joined pages have no others that began alike.', null),
    if(after_date < joined_on + $days::integer, format('Only {} of {} days have passed.', after_date - joined_on, $days::integer), null),
    'Something else happened in the directories of joined pages: ' || theirs || '.',
    'Not compared with, because something else happened there: ' || elsewhere || '.',
    if(now.share_same < 0.5, 'Most pages are compared with other directories, whose pages may fare differently.', null),
    if(
      abs(ago.effect) > greatest(ago.half, 2),
      format('They fared differently already before they joined, by {:+.1f} points: they were not chosen by chance.', ago.effect),
      null
    ),
    if(late > 0, format('{} that were seen later are left out: too few reports are newer than the joining.', late::bigint), null)
  ), '') as caveat
from cohorts
join (select cohort, sum(all_joined)::bigint as pages, sum(late) as late from cells where is_after group by all) as totals
  using (cohort)
left join estimates as now on now.cohort = cohorts.cohort and now.is_after
left join estimates as ago on ago.cohort = cohorts.cohort and not ago.is_after
left join happened on happened.cohort = cohorts.cohort
where pages >= greatest($min_pages::bigint, 1)
order by joined_on desc, pages desc, website_id, sitemap
