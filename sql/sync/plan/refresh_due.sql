-- Whether the report of an unchanged page is fetched again. Each page has due times that are `refresh_cycle_ms` apart
-- and shifted by a hash of its URL, so pages that were fetched in one night come due on different nights. The first one
-- that is at least `refresh_margin_ms` after its report counts: no report is fetched again sooner, and since the cycle
-- and two margins make `refresh_after`, none grows older than that where runs are at most a margin apart.
create or replace temp macro refresh_due(page, fetched_at) as
  epoch_ms(fetched_at) + getvariable('refresh_margin_ms')::bigint
  <= epoch_ms(getvariable('planned_at'))
  - (epoch_ms(getvariable('planned_at')) + ('0x' || md5(page)[:15])::bigint) % getvariable('refresh_cycle_ms')::bigint
