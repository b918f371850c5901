import { z } from 'zod';
import { safe } from '../observe/terminal.js';

/** The value for an unknown state. */
const UNKNOWN_STATE = '-';

/** What a state is called, by its text in an address. */
export function stateLabel(value: string): string {
  const state = stateOf(value);
  if (state === null) return 'unknown';
  return state === '' ? 'empty' : state;
}

/**
 * A state as text that a form sends back unchanged: as it is if possible, else as a JSON string without invisible
 * characters; null, an unknown state, as `-`.
 */
export function stateText(state: string | null): string {
  if (state === null) return UNKNOWN_STATE;
  const isPlain = state !== '' && state !== UNKNOWN_STATE && !state.startsWith('"') && safe(state) === state;
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return isPlain ? state : JSON.stringify(state).replace(/[^\x20-\x7e]/g, escaped);
}

const quoted = z
  .string()
  .startsWith('"')
  .pipe(z.preprocess((text) => parsed(String(text)), z.string()));

/** The state that a text of `stateText` stands for. */
export function stateOf(text: string): string | null {
  if (text === UNKNOWN_STATE) return null;
  return quoted.safeParse(text).data ?? text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
