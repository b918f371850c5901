import { Html, html, type Part, shortened } from '../../answers/html/html.js';
import { ageBand, lastNightBand } from '../../answers/report/page.js';
import type { LastNight } from '../../answers/status/last-night.js';
import type { ServedWebsite } from '../store/live-reader.js';
import { type DashboardContext, linkTo, type Route } from './context.js';

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
