-- Where most pages of a website fell out of the index in a period of dates: `fallen_places`.
from fallen_places((
  select list({website_id: website_id, before_id: before_id, listing_id: listing_id})
  from period_listings($since::date, $until::date)
  where website_id = $website::varchar
))
