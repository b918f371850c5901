-- The pages of `inspections_due` in the order of their reasons and in that of the rotation. Random checks of pages of which
-- something is known come first, so that no reason decides which these are: one in ten of the inspections, until the
-- rotation comes to such pages. Among reasons, pages that were never inspected come before second looks, except at what was
-- modified or is silent. The rotation takes the page that waits longest for its turn: first those of which nothing is known.
-- Equal ones have a random order each night (`draw`), so that the first of those are a random sample of them.
create or replace temp table ranked_inspections as
select
  url,
  scopes_of(url, getvariable('scopes')::varchar[]) as path,
  if(is_check, counts_as, reason) as reason,
  case
    when reason = 'unconfirmed' then reason
    when counts_as = 'shown' or reason = 'new' then 'turn'
    else 'oldest'
  end as turn_reason,
  spelling,
  draw,
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
        draw
    )
  ) as reason_rank,
  row_number() over (
    order by reason <> 'unconfirmed', keeps_failing, turn_on nulls first, counts_as = 'ended' nulls first, draw
  ) as turn_rank
from (
  select
    *,
    row_number() over (partition by counts_as is null order by keeps_failing, md5(url || getvariable('today'))) as draw,
    counts_as is not null
      and draw <= (select ceil(sum("left") / 10) from quotas_left)
      and (select count(*) from inspections_due where counts_as is null) > (select sum(per_day) from quotas_left) as is_check
  from inspections_due
  where is_due
)
