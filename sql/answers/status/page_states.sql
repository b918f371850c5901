-- Pages in the newest complete listing of each website, by verdict and coverage state. Values unknown to the contract are
-- `other`, which limits the number of rows; `none`: the service sent no value. View `coverage_summary`: these listings.
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
  sum(pages)::integer as pages
from coverage_summary
group by all
order by all
