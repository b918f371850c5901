import { z } from 'zod';
import { safe } from '../../observe/terminal.js';

/** Stands for a state that is not known. */
export const UNKNOWN_STATE = '-';
const MOST_CHARACTERS = 4000;
const quoted = z
  .string()
  .startsWith('"')
  .pipe(z.preprocess((text) => parsed(String(text)), z.string()));

/** A state as an address or a form asks for it. */
export const askedState = z.string().max(MOST_CHARACTERS).optional();

/**
 * A state as text that a form sends back unchanged: itself where it can be, else in quotes as JSON writes it, with
 * nothing in it that a page would not show; null, a state that is not known, as `-`.
 */
export function stateText(state: string | null): string {
  if (state === null) return UNKNOWN_STATE;
  const isPlain = state !== '' && state !== UNKNOWN_STATE && !state.startsWith('"') && safe(state) === state;
  return isPlain ? state : JSON.stringify(state).replace(/[^\x20-\x7e]/g, escapedCharacter);
}

/** The state that a text asks for. */
export function stateOf(text: string): string | null {
  if (text === UNKNOWN_STATE) return null;
  return quoted.safeParse(text).data ?? text;
}

function escapedCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
