-- Every so many pages of `listed` the URL of one, from the first on.
select url
from (
  select url, row_number() over (order by url) - 1 as position
  from listed
)
where position % $step::integer = 0
order by url
