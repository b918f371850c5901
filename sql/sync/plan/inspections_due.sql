-- The pages that Search Console may be asked about on this day, and why before their turn. `seen_on`: the last day on which
-- an inspection or search showed what they are. `counts_as`: what a page that search showed in the last 90 days counts as,
-- 'shown' (indexed) or 'ended' (not indexed, as an inspection found since); null for the others.
create or replace temp table inspections_due as
select
  url,
  spelling,
  case
    when not was_is_confirmed then 'unconfirmed'
    when unnamed and (was_unnamed_since is null or was_report_wanted = 'missing') then 'missing'
    when lastmod > was_report_fetched_at and lastmod <= getvariable('planned_at') then 'modified'
    when chance < 0.02 then 'silent'
    when was_report_fetched_at is null and (is_new or was_first_seen_at > first_listing_ended) and not is_shown then 'new'
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
  coalesce(seen_on, california_date(was_first_seen_at), getvariable('today')) as unseen_since,
  counts_as,
  is_contradicted,
  coalesce(was_report_fetched_at < getvariable('day_began'), true) as is_due
from (
  select
    compared.* exclude (spelling),
    if(present, spelling, was_spelling) as spelling,
    california_date(was_report_fetched_at) as inspected_on,
    last_impression_date,
    coalesce(is_shown_lately(last_impression_date, last_final_date), false) as is_shown,
    case
      when last_impression_date is null then null
      when coalesce(last_impression_date > inspected_on, true) or was_index_summary = 'Indexed' then 'shown'
      else 'ended'
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
)
left join (
  select url, try_cast(extra ->> 'lastmod' as timestamptz) as lastmod
  from listed_entries
  where kind = 'entry'
) as said using (url)
-- The first listing takes less than that.
cross join (select min(first_seen_at) + interval 6 hours as first_listing_ended from previous_state)
where present and not never_fetched(url)
