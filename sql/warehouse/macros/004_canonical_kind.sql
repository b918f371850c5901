-- What a page's canonical is: the page itself, another page, or none.
create or replace macro canonical_kind(url, canonical) as case
  when canonical is null then 'none'
  when canonical = url then 'self'
  when host_of(canonical) = host_of(url) then 'other page, same host'
  else 'other host'
end
