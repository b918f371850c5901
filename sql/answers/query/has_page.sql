-- Whether a page has this URL. View `pages`: one row per page.
select exists(
  from pages
  where
    url = $url::varchar
    and is_website(website_id, $website::varchar)
) as is_there
