-- A page on each host that search showed, of 50 hosts at most: those with the most pages.
select min(url) as url
from page_search
group by host_of(url)
order by count(*) desc, url
limit 50
