-- The newest state of the website that is planned for. View `page_state`: that of every website.
create or replace temp view previous_state as
select *
from page_state
where website_id = getvariable('website_id')::varchar
