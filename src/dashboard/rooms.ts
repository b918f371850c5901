import type { Html } from '../report/html.js';
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
import type { Room, WebsiteVisit } from './visit.js';

/** One page of a website: reads what it is asked for, and shows it. May throw a `ServiceError`. */
export type RoomPage = (visit: WebsiteVisit) => Promise<{ title: string; content: Html }>;

export const ROOM_PAGES: Readonly<Record<Room, RoomPage>> = {
  overview: async (visit) => {
    const overview = await visit.ask((reader) => readOverview(reader, visit.website.id));
    return { title: nameOf(visit.website), content: overviewView(visit, overview) };
  },
  changes: async (visit) => {
    const query = readQuery(changesQuery, visit.query);
    const changes = await visit.ask((reader) => readChanges(reader, visit.website.id, query));
    return { title: `Changes of ${nameOf(visit.website)}`, content: changesView(visit, query, changes) };
  },
  pages: async (visit) => {
    const query = readQuery(pagesQuery, visit.query);
    const pages = await visit.ask((reader) => readPages(reader, visit.website.id, query));
    return { title: `Pages of ${nameOf(visit.website)}`, content: pagesView(visit, query, pages) };
  },
  page: async (visit) => {
    const query = readQuery(pageQuery, visit.query);
    const timeline = await visit.ask((reader) => readPage(reader, visit.website.id, query));
    return { title: `A page of ${nameOf(visit.website)}`, content: pageView(visit, query, timeline) };
  },
  runs: async (visit) => {
    const query = readQuery(runsQuery, visit.query);
    const runs = await visit.ask((reader) => readRuns(reader, visit.website.id, query));
    return { title: `Runs of ${nameOf(visit.website)}`, content: runsView(visit, query, runs) };
  },
};
