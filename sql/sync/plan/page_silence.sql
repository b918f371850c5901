-- The rhythm and the silence of each page that search showed in the last 90 days that are final. `is_silent_until_now`: no
-- day that may still change shows the page since.
create or replace temp view page_silence as
select silences.url, silences.days_shown, days, silent_days, late.url is null as is_silent_until_now
from search_silences(null, 'infinity'::date, (select max(last_final_date) - 90 from search_ends), 0) as silences
left join (select distinct url from search_days where not is_final) as late using (url)
