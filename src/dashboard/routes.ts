import type { Html } from '../html/html.js';
import type { Route, WebsiteContext } from './context.js';
import { changesQuery, readChanges } from './data/changes.js';
import { readOverview } from './data/overview.js';
import { pageQuery, readPage } from './data/page.js';
import { pagesQuery, readPages } from './data/pages.js';
import { readRuns, runsQuery } from './data/runs.js';
import { readQuery } from './query.js';
import { changesView } from './views/changes-view.js';
import { nameOf } from './views/layout.js';
import { overviewView } from './views/overview-view.js';
import { pageView } from './views/page-view.js';
import { pagesView } from './views/pages-view.js';
import { runsView } from './views/runs-view.js';

/** One page of a website: reads what it is asked for, and shows it. May throw a `ServiceError`. */
export type WebsitePage = (context: WebsiteContext) => Promise<{ title: string; content: Html }>;

export const PAGES: Readonly<Record<Route, WebsitePage>> = {
  overview: async (context) => {
    const overview = await context.ask((reader) => readOverview(reader, context.website.id));
    return { title: nameOf(context.website), content: overviewView(context, overview) };
  },
  changes: async (context) => {
    const query = readQuery(changesQuery, context.query);
    const changes = await context.ask((reader) => readChanges(reader, context.website.id, query));
    return { title: `Changes of ${nameOf(context.website)}`, content: changesView(context, query, changes) };
  },
  pages: async (context) => {
    const query = readQuery(pagesQuery, context.query);
    const pages = await context.ask((reader) => readPages(reader, context.website.id, query));
    return { title: `Pages of ${nameOf(context.website)}`, content: pagesView(context, query, pages) };
  },
  page: async (context) => {
    const query = readQuery(pageQuery, context.query);
    const timeline = await context.ask((reader) => readPage(reader, context.website.id, query));
    return { title: `A page of ${nameOf(context.website)}`, content: pageView(context, query, timeline) };
  },
  runs: async (context) => {
    const query = readQuery(runsQuery, context.query);
    const runs = await context.ask((reader) => readRuns(reader, context.website.id, query));
    return { title: `Runs of ${nameOf(context.website)}`, content: runsView(context, query, runs) };
  },
};
