-- The website of each of some markers, by its id. View `served_markers`.
select website_id as id, coalesce(website_name, website_id) as name from served_markers order by id
