select "date", "type", url, clicks, impressions, "position" from search_pages where not is_final
