import { z } from 'zod';

const UNSAFE = /^\.|[^\w.-]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it keeps out
const CONTROL = /[\x00-\x1f\x7f]/;
/** With `website=` in front, a folder's name, of at most 255 bytes, has room for a number behind it. */
const MOST_ENCODED = 240;

/**
 * An id as one path component: everything but letters, digits, `_`, `-` and inner dots is percent-encoded, `/`, `*`
 * and a leading dot included, so that no id can leave its folder or be read as a pattern.
 */
export function encodeId(id: string): string {
  const hex = (byte: string) => byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
  return Buffer.from(id)
    .toString('latin1')
    .replaceAll(UNSAFE, (byte) => `%${hex(byte)}`);
}

/** The id from which `encodeId` made this name, or null if it did not make it. */
export function decodeId(name: string): string | null {
  try {
    const id = decodeURIComponent(name);
    return encodeId(id) === name ? id : null;
  } catch {
    return null;
  }
}

/** Why an id can be no part of a URL path or, encoded, of a folder name; null if it can. */
export function idProblem(id: string): string | null {
  if (encodeId(id).length > MOST_ENCODED)
    return `is too long: it takes more than ${MOST_ENCODED} bytes in a folder name`;
  return ['', '.', '..'].includes(id) || id.trim() !== id || CONTROL.test(id) ? 'is not the id of a website' : null;
}

/** The id of a website in a file that somebody else may have written. */
export const websiteIdSchema = z.string().refine((id) => idProblem(id) === null);

/** The folder of a website, in a regular expression. */
export const WEBSITE_FOLDER = 'website=[\\w%-][\\w.%-]*';
