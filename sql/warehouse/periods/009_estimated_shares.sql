-- The share of the pages of a website of Search Console that is indexed, estimated for the whole site: one row per date up
-- to `until_date` with a complete listing. Each night's inspections are two random samples: the rotation (`oldest`) of the
-- pages that search has not shown for 90 days, and one in twenty (`shown`, `ended`) of the others, which count as what
-- search or their last inspection says, corrected by how often these checks find otherwise. A line through the nights of
-- the last ten days ends at the date's share, with its 95% interval. Where the newest nights leave that line
-- (3 standard errors), only they count; where they seem to (2.5), `no_estimate` says so instead. Where three nights
-- inspect twice as many pages as there are, most pages were inspected lately: the counts show it, and nothing is estimated.
create or replace macro estimated_shares(asked_website, until_date) as table
with listed as (
  select
    website_id,
    snapshot_id,
    snapshot_date,
    (evidence ->> 'others')::double as others,
    (evidence ->> 'shown')::double as shown,
    (evidence ->> 'shown_indexed')::double as shown_indexed,
    others + shown as pages,
    (evidence ->> 'contradicted')::integer as contradicted
  from daily_listings
  join (
    select website_id, snapshot_date, max_by(evidence, snapshot_id) as evidence
    from snapshots
    where source = 'google'
    group by website_id, snapshot_date
  ) using (website_id, snapshot_date)
  where is_website(website_id, asked_website) and snapshot_date <= until_date
),
found as (
  select
    website_id,
    snapshot_date,
    sum(sum((samples ->> 'inspected')::integer)) over lately as inspected,
    sum((samples ->> 'drawn')::integer) as drawn,
    sum((samples ->> 'drawn_indexed')::integer) as drawn_indexed,
    sum((samples ->> 'checked')::integer) as checked,
    sum((samples ->> 'came')::integer) as came,
    sum((samples ->> 'went')::integer) as went
  from snapshots
  where samples is not null and is_website(website_id, asked_website) and snapshot_date <= until_date
  group by website_id, snapshot_date
  window lately as (
    partition by website_id order by snapshot_date range between interval 2 days preceding and current row
  )
),
-- The share by each night's sample alone, and its variance. The variance of one page is that of the last ten days.
nights as (
  select
    *,
    (
      if(others > 0, others * drawn_indexed / drawn, 0) + shown_indexed + if(shown > 0, shown * (came - went) / checked, 0)
    ) / pages as share,
    (sum(drawn_indexed) over lately + 0.5) / (sum(drawn) over lately + 1) as likely,
    (sum(came + went) over lately + 0.5) / (sum(checked) over lately + 1) as wrong,
    if(others > 0, (others / pages) ** 2 / drawn * greatest(1 - drawn / others, 0), 0) as by_rotation,
    if(shown > 0, (shown / pages) ** 2 / checked * greatest(1 - checked / shown, 0), 0) as by_checks,
    greatest(by_rotation * likely * (1 - likely) + by_checks * wrong * (1 - wrong), 1e-9) as variance
  from listed
  join found using (website_id, snapshot_date)
  where (others = 0 or drawn > 0) and (shown = 0 or checked > 0)
  window lately as (
    partition by website_id order by snapshot_date range between interval 9 days preceding and current row
  )
),
-- Each date's nights, cut so many days before it, and the nine days before the cut.
cuts as (
  select
    listed.website_id,
    listed.snapshot_id,
    cut.days,
    listed.snapshot_date - nights.snapshot_date as age,
    age < cut.days as is_new,
    1 / variance as weight,
    nights.* exclude (website_id, snapshot_id, others, shown, shown_indexed, pages, contradicted)
  from listed
  join nights on listed.website_id = nights.website_id
    and nights.snapshot_date between listed.snapshot_date - 18 and listed.snapshot_date
  cross join (select unnest(range(1, 11)) as days) as cut
  where age < cut.days + 9
),
fitted as (
  select
    website_id,
    snapshot_id,
    days,
    count(*) filter (is_new) as nights,
    sum(weight) filter (is_new) as w,
    sum(weight * age) filter (is_new) as wx,
    sum(weight * age ** 2) filter (is_new) as wxx,
    sum(weight * share) filter (is_new) as wy,
    sum(weight * age * share) filter (is_new) as wxy,
    if(nights < 3, 0, w * wxx - wx ** 2) as determinant,
    if(determinant > 0, (wxx * wy - wx * wxy) / determinant, wy / w) as share,
    (sum(drawn_indexed) filter (is_new) + 0.5) / (sum(drawn) filter (is_new) + 1) as own_likely,
    (sum(came + went) filter (is_new) + 0.5) / (sum(checked) filter (is_new) + 1) as own_wrong,
    sum(by_rotation) filter (is_new) * own_likely * (1 - own_likely)
      + sum(by_checks) filter (is_new) * own_wrong * (1 - own_wrong) as own_variance,
    sqrt(if(determinant > 0, wxx / determinant, 1 / w) * own_variance / sum(1 / weight) filter (is_new)) as error,
    sum(drawn + checked) filter (is_new) as sampled,
    min(snapshot_date) filter (is_new) as sampled_since,
    -- What the older nights let expect of the middle of the new ones.
    count(*) filter (not is_new) as older,
    wx / w as middle,
    sum(weight) filter (not is_new) as ow,
    sum(weight * age) filter (not is_new) as owx,
    sum(weight * age ** 2) filter (not is_new) as owxx,
    sum(weight * share) filter (not is_new) as owy,
    sum(weight * age * share) filter (not is_new) as owxy,
    if(older < 3, 0, ow * owxx - owx ** 2) as old_determinant,
    if(
      old_determinant > 0,
      (owxx * owy - owx * owxy + middle * (ow * owxy - owx * owy)) / old_determinant,
      owy / ow
    ) as expected,
    if(old_determinant > 0, (owxx - 2 * middle * owx + middle ** 2 * ow) / old_determinant, 1 / ow) as expected_variance,
    if(days < 10, abs(wy / w - expected) / sqrt(1 / w + expected_variance), null) as surprise
  from cuts
  group by website_id, snapshot_id, days
),
chosen as (
  select
    website_id,
    snapshot_id,
    max(surprise) as surprise,
    if(max(surprise) > 2.8, arg_max(days, surprise), 10) as days
  from fitted
  group by website_id, snapshot_id
),
judged as (
  select
    listed.website_id,
    listed.snapshot_id,
    listed.snapshot_date,
    listed.contradicted,
    fitted.* exclude (website_id, snapshot_id),
    coalesce(inspected >= 2 * pages, false) as is_counted,
    case
      when pages is null then 'no inspections were planned'
      when sampled is null then 'no page was inspected by rotation in ten days'
      when not is_counted and chosen.surprise between 2.5 and 2.8
      then 'the newest nights of the sample differ from those before'
    end as no_estimate,
    if(is_counted or no_estimate is not null, null, 1.96 * error) as margin
  from listed
  left join chosen using (website_id, snapshot_id)
  left join fitted using (website_id, snapshot_id, days)
  left join found on found.website_id = listed.website_id and found.snapshot_date = listed.snapshot_date
  where coalesce(pages, 1) > 0
)
select
  website_id,
  snapshot_id,
  snapshot_date,
  -- `least` and `greatest` skip null.
  if(margin is null, null, round(least(greatest(share, 0), 1), 4)) as share_estimated,
  if(margin is null, null, round(greatest(share - margin, 0), 4)) as share_low,
  if(margin is null, null, round(least(share + margin, 1), 4)) as share_high,
  sampled::integer as sampled,
  sampled_since,
  no_estimate,
  contradicted
from judged
