const SAFE = /^[A-Za-z0-9_-]$/;

/**
 * An id as one path component: everything but letters, digits, `_`, `-` and inner dots is percent-encoded, `/`, `*`
 * and a leading dot included, so that no id can leave its folder or be read as a pattern.
 */
export function encodeId(id: string): string {
  let encoded = '';
  for (const [at, byte] of Buffer.from(id, 'utf8').entries()) {
    const character = String.fromCharCode(byte);
    const plain = SAFE.test(character) || (character === '.' && at > 0);
    encoded += plain ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
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
