-- What the URLs of a page have in common that differ in `http` or `https`, `www.`, or a slash at their end.
create or replace macro spelling_key(url) as regexp_replace(regexp_replace(url, '^https?://(?:www[.])?', ''), '/$', '')
