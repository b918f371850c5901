-- The share of the pages of a website of Search Console that is indexed, estimated for the whole site: one row per date
-- up to `until_date` with a complete listing. What is known of a page that was inspected because it is new or modified counts as it is.
-- The rotation takes all others in the order of a hash, so those that it inspected on the last seven dates (`sampled`,
-- since `sampled_since`) are a random sample of them: older inspections are left out, because what they found has changed
-- since. `share_low` and `share_high` are Wilson's 95% interval, which the share of pages that were drawn narrows to nothing.
create or replace macro estimated_shares(asked_website, until_date) as table
with sites as (
  select distinct website_id
  from snapshots
  where source = 'google' and is_website(website_id, asked_website)
),
-- A second look because of what was found, or seems lost, depends on the state: counted as known, such pages would be
-- missing among those that the sample stands for.
seen as (
  select
    website_id,
    url,
    snapshot_id,
    snapshot_date,
    if(reason in ('oldest', 'new', 'modified'), {reason: reason, date: snapshot_date}, null) as chosen,
    index_summary,
    null as listed
  from url_reports
  semi join sites using (website_id)
  where snapshot_date <= until_date
  union all
  select website_id, url, snapshot_id, snapshot_date, null, null, change = 'appeared'
  from page_changes
  semi join sites using (website_id)
  where change in ('appeared', 'retired') and snapshot_date <= until_date
),
known as (
  select
    website_id,
    snapshot_date as from_date,
    coalesce(lead(snapshot_date) over by_page, 'infinity'::date) as to_date,
    last_value(chosen ignore nulls) over up_to_now as chosen,
    (last_value(index_summary ignore nulls) over up_to_now = 'Indexed')::integer as indexed,
    coalesce(last_value(listed ignore nulls) over up_to_now, true) as listed
  from seen
  window
    by_page as (partition by website_id, url order by snapshot_id),
    up_to_now as (partition by website_id, url order by snapshot_id rows unbounded preceding)
),
spans as materialized (
  select
    website_id,
    from_date,
    chosen.reason = 'oldest' as is_drawn,
    if(is_drawn, least(to_date, chosen.date + 7), to_date) as to_date,
    indexed
  from known
  where listed and chosen is not null
),
-- What each date adds to the counts, and takes from them.
steps as (
  select website_id, unnest([from_date, to_date]) as date, unnest([1, -1]) as step, is_drawn, indexed
  from spans
  where from_date < to_date
),
counted as (
  select
    website_id,
    date,
    sum(sum(step) filter (is_drawn)) over by_date as drawn,
    sum(sum(step * indexed) filter (is_drawn)) over by_date as drawn_indexed,
    sum(sum(step) filter (not is_drawn)) over by_date as chosen,
    sum(sum(step * indexed) filter (not is_drawn)) over by_date as chosen_indexed
  from steps
  group by website_id, date
  window by_date as (partition by website_id order by date)
),
listed as (
  select website_id, snapshot_id, snapshot_date, coalesce(sum(pages), 0) as pages
  from daily_listings
  semi join sites using (website_id)
  left join (select snapshot_id, pages from coverage_summary semi join sites using (website_id)) using (snapshot_id)
  where snapshot_date <= until_date
  group by website_id, snapshot_id, snapshot_date
),
sampled as (
  select
    listed.*,
    coalesce(drawn, 0) as drawn,
    coalesce(drawn_indexed, 0) as drawn_indexed,
    coalesce(chosen_indexed, 0) as chosen_indexed,
    greatest(pages - coalesce(chosen, 0), coalesce(drawn, 0)) as others,
    drawn_indexed / nullif(drawn, 0) as drawn_share,
    1.96 ** 2 * (1 - drawn / others) / nullif(drawn, 0) as spread,
    (drawn_share + spread / 2) / (1 + spread) as centre,
    sqrt(spread * drawn_share * (1 - drawn_share) + spread ** 2 / 4) / (1 + spread) as margin
  from listed
  asof left join counted on listed.website_id = counted.website_id and listed.snapshot_date >= counted.date
)
select
  website_id,
  snapshot_id,
  snapshot_date,
  round((chosen_indexed + coalesce(others * drawn_share, 0)) / pages, 4) as share_estimated,
  -- What was seen is certain.
  round((chosen_indexed + greatest(others * (centre - margin), drawn_indexed)) / pages, 4) as share_low,
  round((chosen_indexed + least(others * (centre + margin), others - drawn + drawn_indexed)) / pages, 4) as share_high,
  drawn::integer as sampled,
  if(drawn > 0, greatest(snapshot_date - 6, first_date), null)::date as sampled_since
from sampled
left join (select website_id, min(from_date) filter (is_drawn) as first_date from spans group by website_id) using (website_id)
where pages > 0 and (drawn > 0 or others = 0)
