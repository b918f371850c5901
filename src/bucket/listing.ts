/** An object in a listing. */
export interface Listed {
  key: string;
  /** Bytes. */
  size: number;
  /** Without quotes. The MD5, if the object was sent in one piece and is not encrypted with a customer's key. */
  etag: string;
  /** ISO 8601. */
  modified: string;
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'" };

/** Parses an answer to a ListObjectsV2 request with `encoding-type=url`: flat elements without attributes. */
export function readListing(xml: string): { objects: Listed[]; next: string | null } {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, one = '']) => ({
    key: decodeURIComponent(textOf(one, 'Key').replaceAll('+', ' ')),
    size: Number(textOf(one, 'Size')),
    etag: textOf(one, 'ETag').replaceAll('"', ''),
    modified: textOf(one, 'LastModified'),
  }));
  const isCut = textOf(xml, 'IsTruncated') === 'true';
  return { objects, next: isCut ? textOf(xml, 'NextContinuationToken') || null : null };
}

function textOf(xml: string, element: string): string {
  const [, text = ''] = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml) ?? [];
  return text.replace(/&(#x?)?(\w+);/g, (whole, numeric: string | undefined, name: string) => {
    if (numeric === undefined) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(Number.parseInt(name, numeric === '#' ? 10 : 16));
  });
}
