-- The path of a URL, without its host, parameters and fragment.
create or replace macro path_of(url) as regexp_extract(url, '^[^:]+://[^/?#]*([^?#]*)', 1)
