-- The rejected records of a snapshot that no replay has committed, grouped by window. Text that is not JSON (an HTML
-- page, a truncated record) cannot pass any contract, and a page that the snapshot lists stays as it is there.
select
  source,
  url,
  position,
  strftime(received_at, '%Y-%m-%dT%H:%M:%S.%fZ') as received_at,
  payload
from (
  select *, case when json_valid(payload) then json_extract_string(payload, '$.url') end as payload_url
  from quarantine
)
where
  not replayed
  and json_valid(payload)
  and (url is not null or payload_url is null or payload_url not in (select url from coverage))
order by source, received_at, position, url
