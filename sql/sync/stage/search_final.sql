select * exclude (is_final) from search_pages where is_final
