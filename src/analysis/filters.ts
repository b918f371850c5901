import { z } from 'zod';
import { nearest } from '../config/suggest.js';
import { askRows } from './ask-rows.js';
import type { Question } from './question.js';
import type { Reader } from './reader.js';

const MOST_NAMED = 5;
const texts = z.array(z.string()).nullable();
const knownFilters = z.object({
  has_directory: z.boolean(),
  has_state: z.boolean(),
  directories: texts,
  states: texts,
});

/** Sentences for an answer without rows: which filters match no page of the warehouse, and which values exist. */
export async function unmetFilters(reader: Reader, { parameters, website: only }: Question): Promise<string[]> {
  const { website = null, directory = null, state = null } = parameters;
  if (directory === null && state === null) return [];
  const asked = { website, directory, state };
  const [known] = await askRows(reader, 'query/known_filters', knownFilters, asked, only);
  if (known === undefined) return [];
  return [
    ...(known.has_directory ? [] : [noneOf(`below ${directory}`, String(directory), known.directories ?? [])]),
    ...(known.has_state ? [] : [noneOf(`in the state ${state}`, String(state), known.states ?? [])]),
  ];
}

function noneOf(where: string, given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  if (meant !== null) return `No page is ${where}. Did you mean ${meant}?`;
  const rest = known.length > MOST_NAMED ? ', …' : '';
  return `No page is ${where}. There are: ${known.slice(0, MOST_NAMED).join(', ')}${rest}`;
}
