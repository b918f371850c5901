import { STATUS_CODES } from 'node:http';
import cookies from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Html, html } from '../../answers/html/html.js';
import { type LastNight, type Status, UNREADABLE } from '../../answers/status/status.js';
import type { View } from '../../base/config/views.js';
import type { KeyDetails } from '../../source/contract/key.js';
import { WarehouseError } from '../../warehouse/log/folder/prepare.js';
import { clientSignal, type OnError, readableBy } from '../api/admission.js';
import { publicError, ServiceError } from '../api/errors.js';
import { Authentication } from './authentication.js';
import { sendPages } from './download.js';
import {
  type Content,
  type DashboardContext,
  type DashboardReader,
  FILE_FORMATS,
  layout,
  linkTo,
  ROUTES,
  type Route,
  signInPage,
  type WebsiteContext,
} from './layout.js';
import { changesPage, comparePage } from './pages/changes.js';
import { overviewPage } from './pages/overview.js';
import { pagePage } from './pages/page.js';
import { pagesPage } from './pages/pages.js';
import { runsPage } from './pages/runs.js';
import { findWebsite, websitesPage } from './pages/websites.js';
import { readQuery } from './query.js';
import { DASHBOARD_STYLE } from './style.js';

const MOST_FORM_BYTES = 65_536;
/** Percent-encoded again, such a path still fits into the headers of a request. */
const MOST_PATH_CHARACTERS = 12_000;
/** Without a website: the list of all. */
const websiteParameters = z.object({ websiteId: z.string().default('') });
const FORM_TYPE = 'application/x-www-form-urlencoded';

export interface DashboardOptions {
  /** Answers all queries of the dashboard. The caller closes it. */
  reader: DashboardReader;
  /** The key of a token, or null; called for every request, so that a revoked key loses access at once. */
  findKey(token: string): Promise<KeyDetails | null>;
  /** Milliseconds since 1970: what ages, sessions and limits are counted by. */
  now?: () => number;
  /** Path in front of `/dashboard`, the same as in front of `/v1`. Default: none. */
  prefix?: string;
  views?: readonly View[] | undefined;
  /** How these websites are doing; null if that cannot be read. Left out: unknown. */
  status?: (websites: readonly string[]) => Promise<Status | null>;
  /** Called with the key that a request is signed in with. */
  onKey?: ((request: FastifyRequest, key: KeyDetails) => void) | undefined;
  /** Called with every error that a browser sees as a 500. */
  onError?: OnError;
}

/** The pages of a website. Each reads what its address asks for, and may throw a `ServiceError`. */
const PAGES: Readonly<Record<Route, (context: WebsiteContext) => Promise<Content>>> = {
  overview: overviewPage,
  changes: changesPage,
  pages: pagesPage,
  page: pagePage,
  compare: comparePage,
  runs: runsPage,
};

interface Site {
  /** Path of the dashboard, without a trailing slash. */
  base: string;
  authentication: Authentication;
  options: DashboardOptions;
}

type Send = (context: DashboardContext, websiteId: string, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Adds the dashboard at `/dashboard`, and a redirect to it at `/`: HTML pages about the websites that an API key may
 * read, for users who sign in with it. Call it before the server is ready.
 */
export function addDashboard(app: FastifyInstance, options: DashboardOptions): void {
  const { prefix = '', now = Date.now, findKey } = options;
  const base = `${prefix}/dashboard`;
  app.get(`${prefix}/`, async (_request, reply) => reply.headers(PAGE_HEADERS).redirect(`${base}/`, 303));
  void app.register(
    async (scope) => {
      await scope.register(cookies);
      scope.addHook('onRequest', async (_request, reply) => void reply.headers(PAGE_HEADERS));
      // Of bodies, only the fields of a form are accepted.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser(
        FORM_TYPE,
        { parseAs: 'string', bodyLimit: MOST_FORM_BYTES },
        async (_: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
      );
      const site = { base, authentication: new Authentication(findKey, base, now), options };
      addProblems(scope, site);
      // Files of the dashboard's own contain nothing about any website, so they need no key.
      scope.get('/assets/style.css', async (_request, reply) =>
        reply.type('text/css; charset=utf-8').send(DASHBOARD_STYLE),
      );
      scope.get('/assets/icon.svg', async (_request, reply) => reply.type('image/svg+xml').send(ICON));
      addSignIn(scope, site);
      addPages(scope, site);
    },
    { prefix: base },
  );
}

function addSignIn(scope: FastifyInstance, { base, authentication, options }: Site): void {
  const signInQuery = z.object({ to: z.string().max(MOST_PATH_CHARACTERS).default('') });
  scope.get('/sign-in', async (request, reply) => {
    const { to } = readQuery(signInQuery, request.query);
    authentication.handOut(request, reply);
    return sendPage(reply, signInPage(base, { to, problem: null }));
  });
  scope.post('/sign-in', async (request, reply) => {
    const { to, key } = await authentication.signIn(request, reply);
    if (key) return reply.redirect(to === `${base}/` ? await homeOf(base, key, options.reader) : to, 303);
    authentication.handOut(request, reply);
    return sendPage(reply.code(401), signInPage(base, { to, problem: 'This API key is not known.' }));
  });
  scope.post('/sign-out', async (request, reply) => {
    authentication.signOut(request, reply);
    return reply.redirect(`${base}/sign-in`, 303);
  });
}

/** Where a visitor starts: at the list of websites, or at the overview of the only one. */
async function homeOf(base: string, key: KeyDetails, reader: DashboardReader): Promise<string> {
  const [granted, another] = key.websites_access;
  const only = granted && !another && (await reader.websites()).find(({ id }) => id === granted._id);
  return only ? linkTo({ base, website: only }, 'overview') : `${base}/`;
}

function addPages(scope: FastifyInstance, { base, authentication, options }: Site): void {
  const { reader, onKey, now = Date.now, views = [] } = options;
  const add = (path: string, send: Send): void => {
    scope.get(path, async (request, reply) => {
      const key = await authentication.keyOf(request);
      // Signing in returns to this page, unless its address is too long.
      const to = request.url.length > MOST_PATH_CHARACTERS ? '' : `?to=${encodeURIComponent(request.url)}`;
      if (!key) return reply.redirect(`${base}/sign-in${to}`, 303);
      onKey?.(request, key);
      const context = { keyId: key._id, signal: clientSignal(reply) };
      const ask: DashboardContext['ask'] = (question) => reader.ask(context, 'slow', question);
      const { websiteId } = websiteParameters.parse(request.params);
      const websites = websiteId === '' ? readableBy(key) : [websiteId];
      const age = await reader.dataAge(websites, now());
      const status = async () => options.status?.(websites);
      return send({ base, key, query: request.query, now: now(), age, views, reader, ask, status }, websiteId, reply);
    });
  };
  add('/', async (context, _websiteId, reply) => {
    const { key, age } = context;
    const status = await context.status();
    const view = { base, title: 'Websites', keyLabel: key.api_key_label, age, lastNight: verdictIn(status) };
    return sendPage(reply, layout(view, await websitesPage(context, status)));
  });
  for (const route of ROUTES) {
    const path = route === 'overview' ? '' : `/${route}`;
    add(`/websites/:websiteId${path}`, async (context, websiteId, reply) =>
      sendPage(reply, await websitePage(route, context, websiteId)),
    );
  }
  for (const format of FILE_FORMATS) {
    add(`/websites/:websiteId/pages.${format}`, async (context, websiteId, reply) =>
      sendPages(format, { ...context, website: await findWebsite(context, websiteId) }, reply),
    );
  }
}

async function websitePage(route: Route, context: DashboardContext, websiteId: string): Promise<Html> {
  const website = await findWebsite(context, websiteId);
  const { content, ...named } = await PAGES[route]({ ...context, website });
  const { base, key, age } = context;
  const lastNight = route === 'overview' ? verdictIn(await context.status()) : undefined;
  return layout({ base, ...named, keyLabel: key.api_key_label, at: { website, route }, age, lastNight }, content);
}

function verdictIn(status: Status | null | undefined): LastNight | undefined {
  return status === null ? UNREADABLE : status?.last_night;
}

function addProblems(scope: FastifyInstance, { base, authentication, options }: Site): void {
  const send = async (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const isMissing = error instanceof WarehouseError;
    const shown = isMissing ? new ServiceError(503, 'No warehouse yet: the first sync creates it.') : error;
    const { status, message, headers } = publicError(shown);
    if (status === 500) options.onError?.(error, request);
    // If even the key cannot be read, the page is shown as to a visitor.
    const key = await authentication.keyOf(request).catch(() => null);
    const view = layout(
      { base, title: STATUS_CODES[status] ?? 'Refused', keyLabel: key?.api_key_label ?? null },
      html`<p>${message}</p>
<p><a href="${base}/">All websites</a></p>`,
    );
    // A request that is refused before it reaches the dashboard lacks the dashboard's headers.
    return sendPage(reply.code(status).headers({ ...PAGE_HEADERS, ...headers }), view);
  };
  scope.setErrorHandler(send);
  scope.setNotFoundHandler((request, reply) =>
    send(new ServiceError(404, 'There is nothing at this address.'), request, reply),
  );
}

function sendPage(reply: FastifyReply, page: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page.text);
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2f6fb3" d="M1 9h4v6H1zM6 5h4v10H6zM11 1h4v14h-4z"/></svg>`;

/** No script, no style but the dashboard's own, no frame around it, no form to elsewhere. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

/** Headers of every response of the dashboard. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};
