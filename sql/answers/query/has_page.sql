-- Whether a page has this URL.
select exists(
  from pages
  where
    url = $url::varchar
    and is_website(website_id, $website::varchar)
) as is_there
