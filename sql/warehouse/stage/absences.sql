-- Absence counts only in complete listings; a quarantined URL is present. A page disappears from the listing with the
-- first one that lacks it. It is given up (`disappeared_at`) when two in a row lacked it, or one did and its report
-- answers 404; a fetched report resets that count. A page of a property leaves the listing when nothing has named it for
-- long, and no inspection is asked about that.
create or replace temp view absences as
select
  *,
  absent and was_listed_snapshot_id is not null and was_unlisted_since is null as disappears,
  case
    when here then null
    when was_disappeared_at is not null then was_disappeared_at
    when absences >= 1 and (outcome = 'missing' or getvariable('by_inspection')) then attempted_at
    when absences >= 2 then getvariable('snapshot_at')
  end as disappeared_at
from (
  select
    compared.*,
    attempt.outcome,
    attempt.attempted_at,
    coalesce(attempt.outcome = 'fetched', false) as answered,
    present or (answered and not getvariable('by_inspection')) as here,
    not present and known and getvariable('listing_complete') as absent,
    case
      when here then 0
      when getvariable('listing_complete') then was_absences + 1
      else was_absences
    end::integer as absences
  from compared
  left join report_attempts as attempt on attempt.url = compared.url
)
