/** Paths that break clients that encode them carelessly, or pages that show them carelessly. */
export const NASTY_PATHS = [
  '/search?q=a&b=c&lang=de',
  '/search?q=one+two%2Bthree',
  '/files/a%2Fb%2fc',
  '/files/100%25',
  '/docs/page#section-2',
  '/products/?sort=price#top&x=1',
  '/say/"hello"/it\'s',
  '/<script>alert(1)</script>',
  '/blog/%E2%82%AC-sign',
  '/übersicht/größe',
  '/日本語/ページ?検索=値',
  '/emoji/🦊',
  '/combining/e\u0301',
  '/a;b=c,d|e\\f^g`{h}',
  '/{{7*7}}/$' + '{HOME}',
  '/percent%',
  '/formula/=1+1',
  '//double//slash/../dots/./',
  // A URL of 2,000 characters.
  `/long/?q=${'ä&+'.repeat(2000).slice(0, 1967)}`,
];
