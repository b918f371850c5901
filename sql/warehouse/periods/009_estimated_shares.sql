-- The share of the pages of a website of Search Console that is indexed, estimated for the whole site: one row per date up
-- to `until_date` with a complete listing. What was inspected on the date is certain. Of the pages that counted as indexed
-- at most as large a part has left the index as of those that the newest 30 checks found; the rotation checks those first that
-- were seen longest ago, so of the others no more have left. The same applies to pages that counted as not indexed. Of the
-- pages of which nothing is known, the share is that of the night's random sample. `share_low` and `share_high` add up these
-- bounds, each of which holds with 95%; `share_estimated` takes half of the changes.
create or replace macro estimated_shares(asked_website, until_date) as table
with nights as (
  select
    website_id,
    snapshot_date,
    max_by(
      json_transform(evidence, '{
        "pages": "INTEGER", "today": "INTEGER", "today_indexed": "INTEGER", "shown": "INTEGER", "ended": "INTEGER",
        "others": "INTEGER", "contradicted": "INTEGER"
      }'),
      snapshot_id
    ) as known,
    max_by(
      json_transform(samples, '{
        "shown": "INTEGER", "shown_indexed": "INTEGER", "shown_checked": "INTEGER", "went": "INTEGER", "unsure": "INTEGER", "ended": "INTEGER",
        "ended_indexed": "INTEGER", "ended_checked": "INTEGER", "came": "INTEGER", "others": "INTEGER",
        "others_indexed": "INTEGER", "drawn": "INTEGER", "drawn_indexed": "INTEGER"
      }'),
      snapshot_id
    ) as found
  from snapshots
  where evidence is not null and listing_status = 'complete' and is_website(website_id, asked_website)
    and snapshot_date <= until_date
  group by website_id, snapshot_date
),
-- Of the newest nights, as few as have 30 checks, and four at most: a share that rises would outrun older checks.
checks as (
  select
    website_id,
    snapshot_date,
    sum(checked) filter (class = 'shown') as shown_checked,
    sum(changed) filter (class = 'shown') as went,
    sum(checked) filter (class = 'ended') as ended_checked,
    sum(changed) filter (class = 'ended') as came,
    min(checked_on) as checked_since
  from (
    select now.website_id, now.snapshot_date, old.snapshot_date as checked_on, class, checked, changed
    from nights as now
    join (
      select website_id, snapshot_date, 'shown' as class, found.shown_checked as checked, found.went as changed from nights
      union all
      select website_id, snapshot_date, 'ended', found.ended_checked, found.came from nights
    ) as old on old.website_id = now.website_id and old.snapshot_date between now.snapshot_date - 3 and now.snapshot_date
    window newest_first as (partition by now.website_id, now.snapshot_date, class order by old.snapshot_date desc)
    qualify sum(checked) over newest_first - checked < 30
  )
  where checked > 0
  group by website_id, snapshot_date
),
bounded as (
  select
    listings.website_id,
    listings.snapshot_id,
    listings.snapshot_date,
    known.contradicted,
    found.drawn + coalesce(shown_checked, 0) + coalesce(ended_checked, 0) as sampled,
    least(checked_since, listings.snapshot_date) as sampled_since,
    known.today_indexed + found.shown_indexed + found.ended_indexed + found.others_indexed as certain,
    known.shown - found.shown as shown,
    known.ended - found.ended as ended,
    known.others - found.others as others,
    -- Those that are never inspected, and those that look as if they fell.
    known.pages - known.today - known.shown - known.ended - known.others + found.unsure as unknown,
    (certain + shown * (1 - share_bound(went, shown_checked, shown, 1.96))
      + others * share_bound(found.drawn_indexed, found.drawn, others, -1.96)) / known.pages as low,
    (certain + shown + ended * share_bound(came, ended_checked, ended, 1.96)
      + others * share_bound(found.drawn_indexed, found.drawn, others, 1.96) + unknown) / known.pages as high,
    (certain + shown * (1 - coalesce(went / shown_checked, 1) / 2) + ended * coalesce(came / ended_checked, 1) / 2
      + others * coalesce(found.drawn_indexed / nullif(found.drawn, 0), 0.5) + unknown / 2) / known.pages as share,
    case
      when known is null or found is null then 'no inspections were planned'
      when low = 0 and high = 1 then 'nothing is known of its pages'
    end as no_estimate
  from daily_listings as listings
  left join nights using (website_id, snapshot_date)
  left join checks using (website_id, snapshot_date)
  where is_property(website_id) and is_website(website_id, asked_website) and snapshot_date <= until_date
    and coalesce(known.pages, 1) > 0
)
select
  website_id,
  snapshot_id,
  snapshot_date,
  if(no_estimate is null, round(least(greatest(share, low), high), 4), null) as share_estimated,
  if(no_estimate is null, round(low, 4), null) as share_low,
  if(no_estimate is null, round(high, 4), null) as share_high,
  sampled::integer as sampled,
  sampled_since,
  no_estimate,
  contradicted
from bounded
