-- What is known of the listed pages of a property, and from what: see `evidence` of `pages`.
select
  count_if(evidence = 'inspected' and status = 'indexed')::integer as indexed,
  count_if(evidence = 'inspected' and status <> 'indexed')::integer as not_indexed,
  count_if(evidence = 'seen')::integer as seen,
  count_if(evidence = 'none')::integer as unknown
from pages
where website_id = $website::varchar and is_listed and evidence is not null
having count(*) > 0
