select * exclude (is_final) from search_pages where not is_final
