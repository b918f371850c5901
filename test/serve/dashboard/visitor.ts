import { plain } from '../../answers/report/parsed.js';

/** A browser without scripts: keeps its cookies and follows nothing by itself. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  /** The `Set-Cookie` lines of the last answer. */
  setCookies: string[] = [];

  constructor(readonly origin: string) {}

  get(path: string) {
    return this.#send(path, {});
  }

  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  signIn(token: string, fields: Record<string, string> = {}) {
    return this.post('/dashboard/sign-in', { token, ...fields }, { origin: this.origin });
  }

  async #send(path: string, init: { method?: string; body?: URLSearchParams; headers?: Record<string, string> }) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...init.headers, ...(cookie ? { cookie } : {}) };
    const answer = await fetch(this.origin + path, { ...init, headers, redirect: 'manual' });
    this.setCookies = answer.headers.getSetCookie();
    for (const line of this.setCookies) {
      const [name = '', value = ''] = line.split(';')[0]?.split('=') ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return { status: answer.status, headers: answer.headers, text: new TextDecoder().decode(bytes), bytes };
  }
}

export type Answer = Awaited<ReturnType<Visitor['get']>>;

/** The rows of the page's table of this id, each cell as a reader sees its text. */
export function rowsOf({ text }: Answer, id: string): string[][] {
  const table = new RegExp(`aria-labelledby="${id}"[\\s\\S]*?<tbody>([\\s\\S]*?)</tbody>`).exec(text)?.[1] ?? '';
  return [...table.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)].map(([, cell = '']) => shownText(cell)),
  );
}

export function shownText(piece: string): string {
  return plain(piece.replace(/<[^>]*>/g, ''));
}

export function linksOf({ text }: Answer): string[] {
  return [...text.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, link = '']) => shownText(link));
}
