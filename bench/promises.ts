/** What a figure must be. */
export interface Promised {
  what: string;
  atLeast?: number;
  atMost?: number;
}

/** What each benchmark judges. docs/benchmarks.md lists the same; a test compares the two. */
export const PROMISES = {
  requests: {
    reports: { what: 'requests for reports of a night ÷ pages changed or new', atMost: 1.05 },
    all: { what: 'all requests of a night ÷ pages changed, new or gone', atMost: 1.05 },
    unfetched: { what: 'pages that changed in a night and got no report', atMost: 0 },
    refreshed: { what: 'most reports of unchanged pages in one night ÷ a thirtieth of the pages', atMost: 2 },
    used: { what: 'requests answered ÷ requests that the limit of the key allowed', atLeast: 0.98 },
    refused: { what: 'requests refused with a 429', atMost: 0 },
    shared: { what: 'requests answered ÷ requests that another client of the key left', atLeast: 0.9 },
    hidden: { what: 'requests answered ÷ requests that a limit without headers allowed', atLeast: 0.85 },
    hiddenRefused: { what: 'share of 429s where no header tells the limit', atMost: 0.02 },
  },
  night: {
    processor: { what: 'processor time of a first night ÷ that of a bare script with `fetch`', atMost: 1.15 },
    memory: { what: 'peak memory of a listing ÷ that of one with a tenth of the pages', atMost: 2 },
  },
  answers: {
    analysis: { what: 'processor seconds of the slowest analysis', atMost: 4 },
    filter: { what: 'processor seconds of a filter of the pages', atMost: 1.5 },
    page: { what: 'processor seconds of `page`', atMost: 1 },
    report: { what: 'processor seconds of the report', atMost: 15 },
    memory: { what: 'megabytes of memory of the largest of these', atMost: 1000 },
    property: { what: 'megabytes of memory of a property: its first night, and questions about search', atMost: 1000 },
    commits: { what: 'processor time of `select 1` over many commits ÷ over two', atMost: 1.5 },
    deep: { what: 'processor time of a window deep in a listing ÷ an early one', atMost: 2 },
    overview: { what: 'processor time of the first view of the overview ÷ a scan of 1,000,000 pages', atMost: 150 },
    view: { what: 'processor time of the first view of another page ÷ a scan of 1,000,000 pages', atMost: 40 },
    repeated: { what: 'processor time of a repeated view of 1,000,000 pages ÷ the first', atMost: 0.05 },
  },
  statistics: {
    held: { what: 'share of nights from the fifth on whose 95% interval contains the truth', atLeast: 0.93 },
    given: { what: 'share of nights from the fifth on with an interval', atLeast: 0.95 },
    later: { what: 'nights until a fall is seen ÷ by plain rotation', atMost: 1 },
    first: { what: 'nights until a page that search shows is first inspected ÷ by plain rotation', atMost: 3 },
    falls: { what: 'nights until half of all falls are seen ÷ by plain rotation', atMost: 0.4 },
    unseen: { what: 'most nights that a page is unseen ÷ by plain rotation', atMost: 1 },
  },
} as const satisfies Record<string, Record<string, Promised>>;

/** As the output and the document write it: `≤ 1.05`. */
export function boundOf({ atLeast, atMost }: Promised): string {
  return [atLeast === undefined ? [] : `≥ ${atLeast}`, atMost === undefined ? [] : `≤ ${atMost}`].flat().join(', ');
}
