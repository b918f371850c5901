/** A form whose fields become the address of a list. */
const LIVE_FORM = 'form[data-live-form]';
const RESULTS = 'results';
let running: AbortController | null = null;
/** The address of the list that is shown: a jump within the same page does not change it. */
let shown = location.pathname + location.search;

/**
 * Makes lists change in place: a filter, a table head or a link to another page of a list fetches the address that it
 * would otherwise lead to, and replaces the old list with the one of that page.
 */
export function changeInPlace(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.matches(LIVE_FORM)) return;
    event.preventDefault();
    void show(addressOf(form), true);
  });

  document.addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-live]') : null;
    if (!link || !isPlain) return;
    event.preventDefault();
    void show(link.href, true);
  });

  addEventListener('popstate', () => {
    const isElsewhere = location.pathname + location.search !== shown;
    if (isElsewhere && document.getElementById(RESULTS)) void show(location.href, false);
  });
}

/** Fetches an address and shows its list; leaves to the browser what this cannot do. */
async function show(address: string, remember: boolean): Promise<void> {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  const old = document.getElementById(RESULTS);
  old?.setAttribute('aria-busy', 'true');
  try {
    const answer = await fetch(address, { signal: mine.signal, headers: { accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = page.getElementById(RESULTS);
    if (!answer.ok || answer.redirected || !fresh || !old) return location.assign(address);
    replace(old, fresh);
    if (remember) history.pushState(null, '', address);
    shown = location.pathname + location.search;
    fillForm(page, remember);
    const place = document.getElementById('announcement');
    if (place) place.textContent = document.getElementById('shown')?.textContent ?? '';
  } catch {
    // Aborted by a newer request; else let the browser show what is wrong.
    if (!mine.signal.aborted) location.assign(address);
  }
}

/** Keeps the keyboard focus where it was: on the link with the same name. */
function replace(old: Element, fresh: Element): void {
  const held = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['live'] : undefined;
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(document.adoptNode(fresh));
  if (!hadFocus) return;
  const links = [...fresh.querySelectorAll<HTMLElement>('[data-live]')];
  (links.find((link) => link.dataset['live'] === held) ?? document.getElementById('content'))?.focus();
}

/**
 * Updates the form from a fetched page. While the user may be typing into it, what they entered stays, and only hidden
 * fields are updated.
 */
function fillForm(page: Document, isTyping: boolean): void {
  const fresh = fieldsOf(page);
  for (const [at, field] of fieldsOf(document).entries()) {
    const current = fresh[at];
    if (field instanceof HTMLInputElement && current instanceof HTMLInputElement) {
      if (isTyping && field.type !== 'hidden') continue;
      field.value = current.value;
      field.checked = current.checked;
    } else if (!isTyping && field instanceof HTMLSelectElement && current instanceof HTMLSelectElement) {
      field.replaceChildren(...[...current.options].map((option) => document.importNode(option, true)));
      field.value = current.value;
    }
  }
}

function fieldsOf(page: Document): Element[] {
  return [...(page.querySelector<HTMLFormElement>(LIVE_FORM)?.elements ?? [])];
}

/** The address of a submitted form, without empty fields; fields of the same name are joined by commas. */
function addressOf(form: HTMLFormElement): string {
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== 'string' || value === '') continue;
    const before = address.searchParams.get(name);
    address.searchParams.set(name, before === null ? value : `${before},${value}`);
  }
  return address.href;
}
