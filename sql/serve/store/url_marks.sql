-- Every `$step`-th URL of `listed`, the first included.
select url
from (
  select url, row_number() over (order by url) - 1 as position
  from listed
)
where position % $step::integer = 0
order by url
