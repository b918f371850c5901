import { Html, html, type Part, shortened } from '../../answers/html/html.js';
import type { Reader } from '../../answers/query/reader.js';
import { ageBand, lastNightBand } from '../../answers/report/page.js';
import type { DataAge } from '../../answers/status/data-age.js';
import type { LastNight, Status } from '../../answers/status/status.js';
import type { View } from '../../base/config/views.js';
import type { KeyDetails } from '../../source/contract/key.js';
import type { LiveReader, ServedWebsite } from '../store/live-reader.js';

/** What the dashboard reads a warehouse with. */
export type DashboardReader = Pick<LiveReader, 'ask' | 'dataAge' | 'markers' | 'websites'>;

/** What the dashboard needs for a page: the signed-in key, the request, and a way to read the warehouse. */
export interface DashboardContext {
  /** Path of the dashboard, without a trailing slash. */
  base: string;
  key: KeyDetails;
  /** The parsed query string, not yet checked. */
  query: unknown;
  /** Milliseconds since 1970: what ages are counted to. */
  now: number;
  age: DataAge | null;
  views: readonly View[];
  reader: DashboardReader;
  /** How the websites of the page are doing; null if that cannot be read, undefined if nobody knows. */
  status(): Promise<Status | null | undefined>;
  /** Asks a question of one state of the warehouse. */
  ask<T>(question: (reader: Reader) => Promise<T>): Promise<T>;
}

/** The context of a request for a page of a website. */
export interface WebsiteContext extends DashboardContext {
  website: ServedWebsite;
}

export interface Content {
  title: string;
  /** By default the title. */
  heading?: Html;
  content: Html;
}

/** The pages that each website has. */
export const ROUTES = ['overview', 'changes', 'pages', 'page', 'compare', 'runs'] as const;
export type Route = (typeof ROUTES)[number];
/** The forms that the list of pages has as a file. */
export const FILE_FORMATS = ['xlsx', 'csv', 'json', 'parquet'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

type Values = Readonly<Record<string, string | number | undefined>>;

/** The address of a website's page with these parameters; missing and empty ones are left out. */
export function linkTo(
  { base, website }: Pick<WebsiteContext, 'base' | 'website'>,
  route: Route | `pages.${FileFormat}`,
  values: Values = {},
): string {
  const path = `${base}/websites/${encodeURIComponent(website.id)}${route === 'overview' ? '' : `/${route}`}`;
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return path;
  return `${path}?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}

/** The pages that the navigation of a website offers. */
const TABS: readonly (readonly [Exclude<Route, 'page'>, string])[] = [
  ['overview', 'Overview'],
  ['changes', 'Changes'],
  ['pages', 'Pages'],
  ['compare', 'Compare'],
  ['runs', 'Runs and quality'],
];

/** The same bars as in the icon. */
const MARK = html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1 9h4v6H1zM6 5h4v10H6zM11 1h4v14h-4z"/></svg>`;

interface Layout {
  /** Path of the dashboard. */
  base: string;
  title: string;
  /** By default the title. */
  heading?: Part;
  /** Label of the key that is signed in; null if signed out. */
  keyLabel: string | null;
  /** The website that the page is about, and which of its pages it is. */
  at?: { website: ServedWebsite; route: Route } | undefined;
  age?: DashboardContext['age'];
  lastNight?: LastNight | undefined;
}

/** A page of the dashboard as a complete document, without inline scripts or styles. */
export function layout(
  { base, title, heading = title, keyLabel, at, age = null, lastNight }: Layout,
  content: Part,
): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · indexhouse</title>
<link rel="icon" href="${base}/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}/assets/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
${lastNight && lastNightBand(lastNight)}
${ageBand(age)}
<div class="bar"><p class="brand"><a href="${base}/">${MARK}indexhouse</a></p>
${keyLabel === null ? null : signOut(base, keyLabel)}</div>
</header>
${at ? tabs(base, at.website, at.route) : null}
<main id="content" tabindex="-1">
<h1>${heading}</h1>
${content}
</main>
<footer>Times are in UTC; dates are those of the snapshots.</footer>
</body>
</html>
`;
}

export function shownName({ name, id }: ServedWebsite): string {
  return shortened(name || id);
}

function signOut(base: string, keyLabel: string): Html {
  return html`<form method="post" action="${base}/sign-out" class="who">
<span>${shortened(keyLabel)}</span>
<button type="submit">Sign out</button>
</form>`;
}

function tabs(base: string, website: ServedWebsite, route: Route): Html {
  const current = route === 'page' ? 'pages' : route;
  const items = TABS.map(([name, label]) => {
    const here = name === current ? new Html(route === 'page' ? ' aria-current="true"' : ' aria-current="page"') : null;
    return html`<li><a href="${linkTo({ base, website }, name)}"${here}>${label}</a></li>\n`;
  });
  return html`<nav class="tabs" aria-label="Website">
<p><a href="${base}/">All websites</a></p>
<ul>
${items}</ul>
</nav>`;
}

/** The sign-in form. @param problem why the previous key was not accepted */
export function signInPage(base: string, { to, problem }: { to: string; problem: string | null }): Html {
  const warning = problem === null ? null : html`<p class="warning" role="alert" id="problem">${problem}</p>`;
  const invalid = problem === null ? null : html` aria-invalid="true" aria-describedby="problem"`;
  return layout(
    { base, title: 'Sign in', keyLabel: null },
    html`<p>See which pages of your websites are indexed, what fell out, when and why.</p>
${warning}
<form method="post" action="${base}/sign-in" class="sign-in">
<input type="hidden" name="to" value="${to}">
<p><label for="token">API key</label>
<input id="token" name="token" type="password" autocomplete="current-password" required="" autofocus="" maxlength="4000"${invalid}></p>
<p><button type="submit" class="action">Sign in</button></p>
</form>
<details><summary>How to get a key</summary>
<p>Ask whoever runs this indexhouse. On its machine this command makes one and prints it once:</p>
<p><code>indexhouse keys add --label "my key" --website all</code></p></details>
<p class="note">You will see the websites that this key has access to. The key is not stored in your browser.</p>`,
  );
}
