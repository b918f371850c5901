-- The URL of a page of the website, by its number.
create or replace macro page_url(page) as 'https://www.example.com'
  || ['/products/', '/products/shoes/', '/products/lamps/', '/products/bicycles/', '/products/', '/products/sale/',
    '/blog/', '/blog/travel/', '/blog/', '/docs/', '/docs/install/', '/docs/', '/category/', '/category/winter/',
    '/help/', '/help/orders/', '/jobs/', '/press/', '/stores/', '/'][1 + (hash(page, 1) % 20)::integer]
  || ['blue', 'quick', 'modern', 'small', 'better', 'classic', 'open', 'simple', 'winter', 'urban']
    [1 + (hash(page, 2) % 10)::integer]
  || '-'
  || ['shoes', 'guide', 'lamp', 'recipes', 'install', 'bicycles', 'review', 'offers', 'travel', 'coffee']
    [1 + (hash(page, 3) % 10)::integer]
  || '-' || page
