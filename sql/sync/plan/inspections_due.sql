-- The pages that Search Console may be asked about on this day, and why before their turn. `seen_on`: the last day on which
-- an inspection or search showed what they are; null for those that neither ever did. `counts_as`: 'shown' if that was
-- indexed, 'ended' if not. `turn_on`: the day from which they wait for their turn: `seen_on`, a quarter of a plain rotation
-- (`period`) later if they cannot fall because they are out, or half if nothing names them either; but not as late as
-- impressions could put off an inspection: the first one waits for one and a half rotations of the named pages at most.
create or replace temp table inspections_due as
select
  url,
  spelling,
  case
    when not was_is_confirmed then 'unconfirmed'
    when unnamed and (was_unnamed_since is null or was_report_wanted = 'missing') then 'missing'
    when lastmod > was_report_fetched_at and lastmod <= getvariable('planned_at') then 'modified'
    when chance < 0.02 then 'silent'
    when was_report_fetched_at is null and is_later and not is_shown then 'new'
    when was_report_wanted = 'changed' then 'changed'
    when is_contradicted then 'contradicted'
    else 'oldest'
  end as reason,
  was_report_fetched_at as report_fetched_at,
  was_consecutive_failures >= 2 as keeps_failing,
  chance,
  history_of(was_index_summary, was_index_coverage_state, is_shown) as history,
  is_shown,
  greatest(inspected_on, last_impression_date) as seen_on,
  coalesce(seen_on, first_seen_on) as unseen_since,
  counts_as,
  case
    when seen_on is not null then least(
      seen_on + if(counts_as = 'ended', period // if(unnamed, 2, 4), 0),
      coalesce(inspected_on + 5 * period, first_seen_on + ('0x' || md5(url)[:6])::integer % (named_period + named_period // 2))
    )
    when is_later then first_seen_on
  end as turn_on,
  period,
  is_contradicted,
  coalesce(was_report_fetched_at < getvariable('day_began'), true) as is_due
from (
  select
    compared.* exclude (spelling),
    is_new or was_first_seen_at > first_listing_ended as is_later,
    if(present, spelling, was_spelling) as spelling,
    california_date(was_report_fetched_at) as inspected_on,
    last_impression_date,
    coalesce(is_shown_lately(last_impression_date, last_final_date), false) as is_shown,
    coalesce(california_date(was_first_seen_at), getvariable('today')) as first_seen_on,
    case
      when was_index_summary = 'Indexed' or last_impression_date > coalesce(inspected_on, '-infinity') then 'shown'
      when inspected_on is not null then 'ended'
    end as counts_as,
    coalesce(was_index_summary <> 'Indexed' and is_shown_later(last_impression_date, inspected_on), false) as is_contradicted,
    -- Of what an inspection found since, only the days after it say more.
    if(
      counts_as = 'shown' and is_silent_until_now,
      silence_chance(
        page_silence.days_shown, days, greatest(least(silent_days, coalesce(last_final_date - inspected_on, silent_days)), 0)
      ),
      null
    ) as chance
  from compared
  left join page_search using (url)
  left join page_silence using (url)
  left join search_ends on true
  -- The first listing takes less than that.
  cross join (select min(first_seen_at) + interval 6 hours as first_listing_ended from previous_state)
)
left join (
  select url, try_cast(extra ->> 'lastmod' as timestamptz) as lastmod
  from listed_entries
  where kind = 'entry'
) as said using (url)
cross join (
  select
    ceil(count(*) / a_day)::integer as period,
    greatest(ceil(count(*) filter (unnamed is distinct from true) / a_day), 1)::integer as named_period
  from compared
  cross join (select greatest(sum(per_day), 1) as a_day from quotas_left)
  where present
  group by a_day
)
where present and not never_fetched(url)
