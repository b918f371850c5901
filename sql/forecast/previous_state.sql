-- The newest state of the website that is planned for.
create temp view previous_state as
select *
from known_pages
where website_id = getvariable('website_id')::varchar
