-- Whether a website is a property of Search Console.
create or replace macro is_property(website) as website in (select website_id from snapshots where source = 'google')
