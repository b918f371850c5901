-- Each version of a page says what the one before it said, and a commit has one version of a page.
select
  website_id,
  snapshot_id,
  format(
    '{} was {} before, says its version, but {} says the one before it, of {}',
    url, coalesce(was_status, 'unknown'), coalesce(earlier_status, 'unknown'), coalesce(earlier_id, 'no snapshot')
  ) as problem
from (
  select
    *,
    lag(snapshot_id) over versions as earlier_id,
    lag(status) over versions as earlier_status,
    lag(index_coverage_state) over versions as earlier_state
  from page_versions
  window versions as (partition by website_id, url order by snapshot_id)
)
where
  earlier_id = snapshot_id
  -- Versions before the first one may be among commits that are not compared.
  or (
    (earlier_id is not null or getvariable('is_whole')::boolean)
    and (was_status is distinct from earlier_status or was_index_coverage_state is distinct from earlier_state)
  )
