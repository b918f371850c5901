import { Html, html, pageLink, shortened } from '../../answers/html/html.js';
import type { TrendRow } from '../../answers/report/rows.js';
import { count, counted, grouped, moment, signed } from '../../base/observe/format.js';
import { escapedJson, safe } from '../../base/observe/terminal.js';
import { KINDS, type Notice, titleOf } from './notice.js';

/** Texts from outside are cut to this, so that one of them cannot hide the others. */
const SHOWN_CHARACTERS = 500;
const NAME_CHARACTERS = 60;
const KINDS_IN_TITLE = 3;
/** Slack takes 40,000 characters in one message. */
const MESSAGE_CHARACTERS = 12_000;
/** Teams takes 28 kB, and each line costs a hundred bytes besides its text. */
const TEAMS_CHARACTERS = 5000;

/** How much of a website is indexed, date by date. */
export interface Trend {
  website: string;
  rows: Pick<TrendRow, 'snapshot_date' | 'pages' | 'indexed'>[];
}

/** The content of one message, for any channel. */
export interface Message {
  /** One line, without texts from outside. */
  title: string;
  notices: Notice[];
  trends: Trend[];
  /** ISO 8601. */
  sentAt: string;
}

/** Groups notices into one message, the worst first. */
export function newMessage(given: readonly Notice[], trends: Trend[], now: number): Message {
  const notices = [...given].sort((one, other) => KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind));
  const kinds = [...new Set(notices.map(({ kind }) => kind))];
  const more = kinds.length - KINDS_IN_TITLE;
  const named = kinds.slice(0, KINDS_IN_TITLE).map(titleOf);
  const title = `indexhouse: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return { title, notices, trends, sentAt: new Date(now).toISOString() };
}

/** The JSON that webhooks and commands get. */
export function jsonOf({ title, notices, sentAt }: Message): string {
  return escapedJson(JSON.stringify({ version: 1, title, sent_at: sentAt, notices }));
}

/** The message as plain text. Characters that could turn its direction or begin a line are made visible. */
export function textOf({ notices }: Message, characters = MESSAGE_CHARACTERS): string {
  const texts = notices.map((one) => `${linesOf(one).join('\n')}\n`);
  if (texts.join('\n').length <= characters) return texts.join('\n');
  let shown = texts[0]?.slice(0, characters) ?? '';
  let fitting = 1;
  for (; shown.length + (texts[fitting]?.length ?? 0) < characters; fitting++) shown += `\n${texts[fitting]}`;
  return `${shown}\n…\n${leftOutText(notices.slice(fitting))}: indexhouse status\n`;
}

/** How many notices are left out, and of which kinds. */
export function leftOutText(notices: readonly Pick<Notice, 'kind'>[]): string {
  const kinds = [...grouped(notices, ({ kind }) => kind)].map(
    ([kind, all]) => `${count(all.length)} × ${titleOf(kind)}`,
  );
  return `${counted(notices.length, 'more notice')} left out (${kinds.join(', ')})`;
}

function linesOf(notice: Notice): string[] {
  const { what, since, directory, state, examples, command } = notice;
  const most = [
    ...(directory === null ? [] : [`directory: ${shown(directory)}`]),
    ...(state === null ? [] : [`state: ${shown(state)}`]),
    ...(since === null ? [] : [`since: ${since.includes('T') ? moment(since) : since}`]),
  ];
  return [
    `${namePrefix(notice)}${shown(what)}`,
    ...(most.length > 0 ? [`  ${most.join(', ')}`] : []),
    ...examples.map((url) => `  ${shown(url)}`),
    `  $ ${shown(command)}`,
  ];
}

function namePrefix({ website_name, website_id, websites, more_websites: more }: Notice): string {
  const names = [website_name ?? website_id ?? [], websites]
    .flat()
    .map((name) => safe(shortened(name, NAME_CHARACTERS)));
  return names.length === 0 ? '' : `${names.join(', ')}${more > 0 ? ` and ${count(more)} more` : ''}: `;
}

function shown(text: string): string {
  return safe(shortened(text, SHOWN_CHARACTERS));
}

/**
 * For Slack and whatever takes the same JSON. In a block of code, nothing is markup except what Slack itself escapes,
 * so other programs show no mentions either.
 */
export function slackOf(message: Message): string {
  const harmless = textOf(message).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return JSON.stringify({ text: `${message.title}\n\`\`\`\n${harmless.replaceAll('`', "'")}\`\`\`` });
}

/** For Teams: a card. Its text runs have no markup. */
export function teamsOf(message: Message): string {
  const run = (text: string, look: object) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...look }],
  });
  const lines = textOf(message, TEAMS_CHARACTERS).split('\n');
  const body = [
    run(message.title, { weight: 'Bolder', size: 'Medium' }),
    ...lines.map((line) => run(line === '' ? ' ' : line, { fontType: 'Monospace', size: 'Small' })),
  ];
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body,
  };
  const attachments = [{ contentType: 'application/vnd.microsoft.card.adaptive', content }];
  return JSON.stringify({ type: 'message', attachments });
}

const CELL = new Html('style="padding:2px 12px 2px 0;text-align:right"');

/** A mail: mail programs show neither SVG nor style sheets, so the trend is a table. */
export function mailOf(message: Message): { subject: string; text: string; html: string } {
  const { title, notices, trends } = message;
  const names = new Set(notices.flatMap((one) => [one.website_name ?? one.website_id ?? [], one.websites].flat()));
  const all = names.size + Math.max(0, ...notices.map(({ more_websites: more }) => more));
  const [only = ''] = names;
  const about =
    all === 1 ? ` (${safe(shortened(only, NAME_CHARACTERS))})` : all > 1 ? ` (${counted(all, 'website')})` : '';
  const page = html`<!doctype html><html><body style="font-family:sans-serif"><h3>${title}</h3>
${notices.map((one) => section(one))}${trends.map((one) => trendTable(one))}</body></html>`;
  return { subject: `${title}${about}`, text: textOf(message), html: page.text };
}

function section(notice: Notice): Html {
  const [what = '', ...rest] = linesOf({ ...notice, examples: [] });
  return html`<p><b>${what}</b>${rest.map((line) => html`<br>${line}`)}</p>
${notice.examples.length > 0 ? html`<ul>${notice.examples.map((url) => html`<li>${pageLink(url)}</li>`)}</ul>` : null}`;
}

function trendTable({ website, rows }: Trend): Html {
  const heads = ['date', 'pages', 'indexed', 'change'].map((head) => html`<th ${CELL}>${head}</th>`);
  const lines = rows.map(({ snapshot_date, pages, indexed }, at) => {
    const before = rows[at - 1]?.indexed;
    const cells = [snapshot_date, count(pages), count(indexed), before === undefined ? '' : signed(indexed - before)];
    return html`<tr>${cells.map((cell) => html`<td ${CELL}>${cell}</td>`)}</tr>`;
  });
  return html`<h4>${shown(website)}</h4><table>${html`<tr>${heads}</tr>`}${lines}</table>`;
}
