-- What all spellings of a page's URL have in common, for joins: scheme and host in lower case, no default port, no fragment,
-- `/` for an empty path, escapes in one form. All else is kept. Text that is no URL is its own key. So is nearly every URL,
-- which one pattern finds in a tenth of the time that the rest takes.
create or replace macro url_key(url) as
  case
    when regexp_full_match(url, '[a-z]+://[a-z0-9.-]+/(?:[!-"$&-~]|%[0-9A-F]{2})*') or not contains(url, '://') then url
    else list_transform([split_part(trim(url), '#', 1)], lambda whole: list_transform(
      [split_part(whole, '/', 1) || '//' || split_part(split_part(whole, '/', 3), '?', 1)],
      lambda origin: regexp_replace(lower(origin), '^(https://.*):443$|^(http://.*):80$', '\1\2')
        || if(whole ^@ (origin || '/'), '', '/')
        || array_to_string(list_transform(
          regexp_extract_all(substr(whole, length(origin) + 1), '%[0-9A-Fa-f]{2}|[ -$&-~]+|[^ -~]+|.'),
          lambda part: if(strlen(part) > length(part), url_encode(part), if(part ^@ '%', upper(part), part))
        ), '')
    )[1])[1]
  end
