/** A form whose fields become the address of a list. */
export const LIVE_FORM = 'form[data-live-form]';

/**
 * Makes the form say what a fetched page's says. While somebody may be typing into it, what they filled in stays, and only
 * what they cannot see follows.
 */
export function fillForm(page: Document, isTyping: boolean): void {
  const fresh = fieldsOf(page);
  for (const [at, field] of fieldsOf(document).entries()) {
    const told = fresh[at];
    if (field instanceof HTMLInputElement && told instanceof HTMLInputElement) {
      if (isTyping && field.type !== 'hidden') continue;
      field.value = told.value;
      field.checked = told.checked;
    } else if (!isTyping && field instanceof HTMLSelectElement && told instanceof HTMLSelectElement) {
      field.replaceChildren(...[...told.options].map((option) => document.importNode(option, true)));
      field.value = told.value;
    }
  }
}

function fieldsOf(page: Document): Element[] {
  return [...(page.querySelector<HTMLFormElement>(LIVE_FORM)?.elements ?? [])];
}

/** The address that a form leads to, without its empty fields; of a name that several fields share it tells them all. */
export function addressOf(form: HTMLFormElement): string {
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (typeof value !== 'string' || value === '') continue;
    const before = address.searchParams.get(name);
    address.searchParams.set(name, before === null ? value : `${before},${value}`);
  }
  return address.href;
}
