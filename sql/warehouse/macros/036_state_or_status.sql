-- The coverage state of a page, or in words why there is none; null if the service sent data without a state.
create or replace macro state_or_status(status, index_coverage_state) as
  if(status in ('indexed', 'not_indexed'), index_coverage_state, state_text(status, index_coverage_state))
