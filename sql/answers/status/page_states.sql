-- Pages of each website that are listed, by verdict and coverage state. Values unknown to the contract are `other`,
-- which limits the number of rows; `none`: the service sent no value.
select
  website_id,
  case
    when index_summary is null then 'none'
    when list_contains(getvariable('known_summaries'), index_summary) then index_summary
    else 'other'
  end as verdict,
  case
    when index_coverage_state is null then 'none'
    when list_contains(getvariable('known_states'), index_coverage_state) then index_coverage_state
    else 'other'
  end as state,
  count(*)::integer as pages
from page_state
where unlisted_since is null and listed_snapshot_id is not null
group by all
order by all
