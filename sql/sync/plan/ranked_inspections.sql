-- The pages of `inspections_due` in the order of their reasons and in that of the rotation. Random checks of pages that
-- search showed come first, so that no reason decides which these are: for one in twenty of the inspections. They follow
-- the order of a hash from where the golden section puts this day, so that each page has its turn. Among reasons, pages that
-- were never inspected come before second looks, except at what was modified or is silent. The rotation takes the page that
-- was unseen longest, and orders equal ones by the hash, so that `oldest` is a random sample of those that search does not
-- show. New pages, and those that search showed, are no part of the sample: `turn`.
create or replace temp table ranked_inspections as
select
  url,
  scopes_of(url, getvariable('scopes')::varchar[]) as path,
  if(is_check, counts_as, reason) as reason,
  case
    when reason = 'unconfirmed' then reason
    when counts_as is null and reason <> 'new' then 'oldest'
    else 'turn'
  end as turn_reason,
  spelling,
  if(
    reason = 'oldest' and not is_check,
    null,
    row_number() over (
      order by
        reason <> 'unconfirmed',
        not is_check,
        reason = 'oldest',
        keeps_failing,
        goes_first(url) desc,
        reason in ('modified', 'silent') or report_fetched_at is null desc,
        list_position(getvariable('reasons'), reason),
        chance nulls last,
        report_fetched_at nulls first,
        md5(url)
    )
  ) as reason_rank,
  row_number() over (
    order by reason <> 'unconfirmed', is_shown, keeps_failing, if(is_shown, draw, null), seen_on nulls first, md5(url)
  ) as turn_rank
from (
  select
    *,
    row_number() over (
      partition by counts_as is null
      order by
        keeps_failing,
        md5(url) < format(
          '{:08x}',
          floor(mod((getvariable('today') - date '2000-01-01') * 0.6180339887, 1) * 4294967296)::bigint
        ),
        md5(url)
    ) as draw,
    counts_as is not null and draw <= (select ceil(sum("left") / 20) from quotas_left) as is_check
  from inspections_due
  where is_due
)
