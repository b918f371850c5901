select "date", "type", url, clicks, impressions, "position" from search_pages where is_final
