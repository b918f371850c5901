-- The host of a URL, with its port.
create or replace macro host_of(url) as lower(regexp_extract(url, '^[^:]+://([^/?#]*)', 1))
