const UNSAFE = /^\.|[^\w.-]/g;

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
