-- The pages that the user asked about, as far as the day's inspections go.
select url, 'asked' as reason, if(present, spelling, was_spelling) as spelling
from (select unnest(getvariable('asked')::varchar[]) as url, generate_subscripts(getvariable('asked')::varchar[], 1) as place)
join inspections_left on property = property_of(url)
left join compared using (url)
qualify row_number() over (partition by property order by place) <= inspections_left
order by place
limit getvariable('max_reports')::bigint
