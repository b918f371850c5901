-- What all spellings of a page's URL have in common, for joins: scheme and host in lower case, no default port, no fragment,
-- `/` for an empty path, escapes in one form, none of a letter, a digit or one of `-._~`. All else is kept. Text that is no URL is its own key. So is nearly every URL,
-- which one pattern finds in a tenth of the time that the rest takes.
create or replace macro url_key(url) as
  case
    when regexp_full_match(url, '[a-z]+://[a-z0-9.-]+/(?:[!-"$&-~]|%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|[46]0|5[B-E]|7[B-DF]))*') or not contains(url, '://') then url
    else list_transform([split_part(trim(url), '#', 1)], lambda whole: list_transform(
      [split_part(whole, '/', 1) || '//' || split_part(split_part(whole, '/', 3), '?', 1)],
      lambda origin: regexp_replace(lower(origin), '^(https://.*):443$|^(http://.*):80$', '\1\2')
        || if(whole ^@ (origin || '/'), '', '/')
        || array_to_string(list_transform(
          regexp_extract_all(substr(whole, length(origin) + 1), '%[0-9A-Fa-f]{2}|[ -$&-~]+|[^ -~]+|.'),
          lambda part: case
            when strlen(part) > length(part) or part = '%' then url_encode(part)
            when regexp_full_match(part, '%(2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])', 'i') then url_decode(part)
            when part ^@ '%' then upper(part)
            else part
          end
        ), '')
    )[1])[1]
  end
