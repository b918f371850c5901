import { hash, hashText } from './random.js';

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

/**
 * The page URLs of one domain. A page's URL follows from its number and vice versa, with nothing stored per page. Two
 * websites of the same domain and seed have the same pages.
 */
export class PageUrls {
  readonly #origin: string;
  readonly #seed: number;
  readonly #extra: readonly string[];

  /** @param paths of extra pages, after the home page */
  constructor(seed: number, domain: string, paths: readonly string[]) {
    this.#origin = `https://www.${domain}`;
    this.#seed = hashText(seed, domain);
    this.#extra = paths.map((path) => this.#origin + path);
  }

  /** Page 0 is the home page; the extra ones come next. */
  url(page: number): string {
    if (page === 0) return `${this.#origin}/`;
    const extra = this.#extra[page - 1];
    if (extra !== undefined) return extra;
    const h = hash(this.#seed, page, 1);
    const words = `${FIRST_WORDS[h % 10]}-${LAST_WORDS[(h >>> 8) % 10]}`;
    return `${this.#origin}${this.directory(page)}${words}-${page}`;
  }

  /** The number that a URL would have, or null for one that no page of this domain has. */
  number(url: string): number | null {
    const extra = this.#extra.indexOf(url);
    if (extra >= 0) return extra + 1;
    const page = Number(NUMBER_AT_END.exec(url)?.[1] ?? 0);
    return this.url(page) === url ? page : null;
  }

  /** `/blog/` and the like; extra pages and the home page are in `/`. */
  directory(page: number): string {
    if (page <= this.#extra.length) return '/';
    return DIRECTORIES[hash(this.#seed, page) % DIRECTORIES.length] ?? '/';
  }

  sitemaps(page: number): string[] {
    const name = this.directory(page).replaceAll('/', '') || 'pages';
    const own = `${this.#origin}/sitemap-${name}.xml`;
    return hash(this.#seed, page, 2) % 10 === 0 ? [`${this.#origin}/sitemap.xml`, own] : [own];
  }
}
