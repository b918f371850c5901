-- Whether a page has this URL, or that of a property has another spelling of it.
select exists(
  from page_state
  where
    url in ($url::varchar, url_key($url::varchar))
    and is_website(website_id, $website::varchar)
) as is_there
