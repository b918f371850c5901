-- The coverage state of a page, or in words why there is none; null if the service sent data without a state.
create or replace macro state_or_status(status, index_coverage_state) as coalesce(
  index_coverage_state,
  if(status in ('no_data', 'data_lost', 'not_inspected'), replace(status, '_', ' '), null)
)
