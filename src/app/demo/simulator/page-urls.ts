import { hash, hashText } from './random.js';

const LONG_URL_CHARACTERS = 2000;
/** Directories of a website, each as often as it occurs here. */
const DIRECTORIES = [
  ...Array<string>(9).fill('/products/'),
  ...Array<string>(3).fill('/blog/'),
  ...Array<string>(4).fill('/docs/'),
  ...Array<string>(2).fill('/category/'),
  ...Array<string>(2).fill('/'),
];
const FIRST_WORDS = ['blue', 'quick', 'modern', 'small', 'better', 'classic', 'open', 'simple', 'winter', 'urban'];
const LAST_WORDS = ['shoes', 'guide', 'lamp', 'recipes', 'install', 'bicycles', 'review', 'offers', 'travel', 'coffee'];
const NUMBER_AT_END = /-(\d{1,9})$/;

/** Paths that break clients that encode them carelessly, or pages that show them carelessly. */
const NASTY_PATHS = [
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
] as const;

/**
 * The page URLs of one domain. A page's URL follows from its number and vice versa, with nothing stored per page. Two
 * websites of the same domain and seed have the same pages.
 */
export class PageUrls {
  readonly #origin: string;
  readonly #seed: number;
  readonly #nasty: readonly string[];
  readonly #nastyNumbers: ReadonlyMap<string, number>;

  constructor(seed: number, domain: string, nasty: boolean) {
    this.#origin = `https://www.${domain}`;
    this.#seed = hashText(seed, domain);
    this.#nasty = nasty ? nastyUrls(this.#origin) : [];
    this.#nastyNumbers = new Map(this.#nasty.map((url, index) => [url, index + 1]));
  }

  /** How many extra pages the option `nasty` adds. */
  get nastyCount(): number {
    return this.#nasty.length;
  }

  /** Page 0 is the home page; those with nasty URLs come next. */
  url(page: number): string {
    if (page === 0) return `${this.#origin}/`;
    const nasty = this.#nasty[page - 1];
    if (nasty !== undefined) return nasty;
    const h = hash(this.#seed, page, 1);
    const words = `${FIRST_WORDS[h % 10]}-${LAST_WORDS[(h >>> 8) % 10]}`;
    return `${this.#origin}${this.directory(page)}${words}-${page}`;
  }

  /** The number that a URL would have, or null for one that no page of this domain has. */
  number(url: string): number | null {
    const nasty = this.#nastyNumbers.get(url);
    if (nasty !== undefined) return nasty;
    const page = Number(NUMBER_AT_END.exec(url)?.[1] ?? 0);
    return this.url(page) === url ? page : null;
  }

  /** `/blog/` and the like; nasty pages and the home page are in `/`. */
  directory(page: number): string {
    if (page <= this.#nasty.length) return '/';
    return DIRECTORIES[hash(this.#seed, page) % DIRECTORIES.length] ?? '/';
  }

  sitemaps(page: number): string[] {
    const name = this.directory(page).replaceAll('/', '') || 'pages';
    const own = `${this.#origin}/sitemap-${name}.xml`;
    return hash(this.#seed, page, 2) % 10 === 0 ? [`${this.#origin}/sitemap.xml`, own] : [own];
  }
}

function nastyUrls(origin: string): string[] {
  const long = `${origin}/long/?q=`;
  return [
    ...NASTY_PATHS.map((path) => origin + path),
    long + 'ä&+'.repeat(LONG_URL_CHARACTERS).slice(0, LONG_URL_CHARACTERS - long.length),
  ];
}
