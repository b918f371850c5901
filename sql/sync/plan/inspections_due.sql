-- The pages that Search Console may be asked about on this day, and why before their turn. `impressions_lost` is how far
-- the last seven days with figures are below what the three weeks before let expect.
create or replace temp view inspections_due as
select
  compared.url,
  if(present, spelling, was_spelling) as spelling,
  case
    when unnamed and (was_unnamed_since is null or was_report_wanted = 'missing') then 'missing'
    when lastmod > was_report_fetched_at and lastmod <= getvariable('planned_at') then 'modified'
    when was_report_fetched_at is null and (is_new or was_first_seen_at > first_listing_ended) then 'new'
    when was_report_wanted = 'changed' then 'changed'
    -- Looked at since they ended, it need not be looked at again.
    when
      impressions_lost > 2 * sqrt(impressions_expected)
      and was_report_fetched_at < getvariable('planned_at') - interval 10 days
    then 'traffic_lost'
    else 'oldest'
  end as reason,
  was_report_fetched_at as report_fetched_at,
  was_consecutive_failures >= 2 as keeps_failing,
  impressions_lost
from compared
left join (
  select url, try_cast(extra ->> 'lastmod' as timestamptz) as lastmod
  from listed_entries
  where kind = 'entry'
) as said using (url)
left join (
  select
    url,
    coalesce(sum(impressions) filter ("date" > last_final_date - 7), 0) as recent,
    (sum(impressions) - recent) / 3 as impressions_expected,
    impressions_expected - recent as impressions_lost
  from search_final
  join search_ends using (website_id)
  where "type" = 'web' and "date" > last_final_date - 28
  group by url
) as shown using (url)
-- The first listing takes less than that.
cross join (select min(first_seen_at) + interval 6 hours as first_listing_ended from previous_state)
where
  present
  and not never_fetched(compared.url)
  and coalesce(was_report_fetched_at < getvariable('day_began'), true)
