-- What the planned inspections of a commit found, for `estimated_shares`. A page that was left out ends the random sample.
select inspection_samples(counts_as, reason, draw, place, found)::varchar as samples
from (
  select
    *,
    case
      when outcome = 'unconfirmed' and counts_as = 'shown' then 'unsure'
      when outcome in ('fetched', 'unconfirmed') then if(index_summary = 'Indexed', 'indexed', 'not indexed')
    end as found,
    row_number() over (partition by counts_as is null order by draw) as place
  from read_json(
    getvariable('plan_file'),
    format = 'newline_delimited',
    columns = {url: 'VARCHAR', reason: 'VARCHAR', counts_as: 'VARCHAR', draw: 'BIGINT'}
  )
  join (
    select url, 'fetched' as outcome, index_summary from now_url_reports
    union all
    select url, outcome, null from now_report_failures
  ) using (url)
)
