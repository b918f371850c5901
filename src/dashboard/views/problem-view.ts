import { STATUS_CODES } from 'node:http';
import { type Html, html } from '../../html/html.js';
import { layout } from './layout.js';

/** What went wrong with a request, as far as its sender may know. */
export function problemView(
  base: string,
  { status, message, keyLabel }: { status: number; message: string; keyLabel: string | null },
): Html {
  const title = STATUS_CODES[status] ?? 'Refused';
  return layout(
    { base, title, keyLabel },
    html`<h1>${title}</h1>
<p>${message}</p>
<p><a href="${base}/">To the websites</a></p>`,
  );
}
