-- The span that a number of days belongs to; null is `never`.
create or replace macro age_span(days) as case
  when days is null then 'never'
  when days <= 1 then '0-1 days'
  when days <= 7 then '2-7 days'
  when days <= 14 then '8-14 days'
  when days <= 30 then '15-30 days'
  when days <= 90 then '31-90 days'
  else 'over 90 days'
end
