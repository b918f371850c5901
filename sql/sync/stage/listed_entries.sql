-- Each listed page once: distinct URLs, and entries without a usable URL by their position.
create or replace temp view listed_entries as
select kept_entries.*
from kept_entries
left join doubled_urls using (url)
where doubled_urls.url is null or kept_entries.position = doubled_urls.last_position
