/** An object in a listing. */
export interface ListedObject {
  key: string;
  /** ISO 8601. */
  modified: string;
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'" };
/** An answer in one piece. A proxy's page, or an answer that was cut off, is none. */
const WHOLE = /^\s*(<\?xml[^>]*\?>\s*)?<ListBucketResult[\s>].*<\/ListBucketResult>\s*$/s;

/**
 * Parses an answer to a ListObjectsV2 request with `encoding-type=url`: flat elements without attributes.
 *
 * @returns null if it is anything else, or not whole; `next` continues the listing, and is null at its end
 */
export function readListing(xml: string): { objects: ListedObject[]; next: string | null } | null {
  try {
    return WHOLE.test(xml) ? wholeListing(xml) : null;
  } catch (error) {
    // A malformed percent-encoding, or the number of no character.
    if (error instanceof URIError || error instanceof RangeError) return null;
    throw error;
  }
}

function wholeListing(xml: string) {
  const objects = [...xml.matchAll(/<Contents>((?:(?!<Contents>).)*?)<\/Contents>/gs)].map(([, one = '']) => ({
    key: decodeURIComponent(textOf(one, 'Key').replaceAll('+', ' ')),
    modified: textOf(one, 'LastModified'),
  }));
  const truncated = textOf(xml, 'IsTruncated');
  const next = truncated === 'true' ? textOf(xml, 'NextContinuationToken') : null;
  const [count, opened] = [textOf(xml, 'KeyCount'), xml.split('<Contents>').length - 1];
  const isWhole =
    ['true', 'false'].includes(truncated) &&
    next !== '' &&
    opened === objects.length &&
    (count === '' || Number(count) === opened) &&
    objects.every(({ key, modified }) => key !== '' && Date.parse(modified) > 0);
  return isWhole ? { objects, next } : null;
}

function textOf(xml: string, element: string): string {
  const [, text = ''] = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml) ?? [];
  return text.replace(/&(#x?)?(\w+);/g, (whole, numeric: string | undefined, name: string) => {
    if (numeric === undefined) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(Number.parseInt(name, numeric === '#' ? 10 : 16));
  });
}
