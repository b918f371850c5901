-- What is known of a page: `indexed`, `not_indexed`, `gone` (no longer listed), `retired` (of a property, and no
-- source has named it for a long time), `not_inspected` (listed, and Search Console was never asked), `data_lost` (listed, and the service no
-- longer says anything of it), or `no_data` (listed, and it never said anything).
create or replace macro page_status(
  index_summary, was_listed, unlisted_since, by_inspection, report_fetched_at, first_data_at
) as case
  when was_listed and unlisted_since is not null then if(by_inspection, 'retired', 'gone')
  when index_summary = 'Indexed' then 'indexed'
  when index_summary is not null then 'not_indexed'
  when by_inspection and report_fetched_at is null then 'not_inspected'
  when first_data_at is not null then 'data_lost'
  else 'no_data'
end
