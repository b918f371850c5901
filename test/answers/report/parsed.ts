const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z:-]+="[^"<>]*")*)\s*\/?>/g;
const ATTRIBUTE = /([a-zA-Z:-]+)="([^"]*)"/g;
const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

interface Parsed {
  /** Names, lower case, each once. */
  tags: Set<string>;
  attributes: { tag: string; name: string; value: string }[];
  /** What stands between the tags, entities resolved. */
  text: string;
}

/**
 * Takes a document apart with a grammar that is narrower than HTML's: what is no tag with attributes in double quotes
 * must be text without any `<` or `>`, so that no reader of HTML can find something else in it.
 */
export function parsed(document: string): Parsed {
  const tags = new Set<string>();
  const attributes: Parsed['attributes'] = [];
  const withoutStyle = document.replace(/^<!doctype html>/, '').replace(/<style>[^<]*<\/style>/g, '<style></style>');
  const text = withoutStyle.replace(TAG, (_, _slash: string, tag: string, given: string) => {
    tags.add(tag.toLowerCase());
    for (const [, name = '', value = ''] of given.matchAll(ATTRIBUTE)) {
      attributes.push({ tag: tag.toLowerCase(), name: name.toLowerCase(), value: plain(value) });
    }
    return '\n';
  });
  const stray = /.{0,60}[<>].{0,60}/.exec(text)?.[0];
  if (stray !== undefined) throw new Error(`neither a tag nor text: ${stray}`);
  return { tags, attributes, text: plain(text) };
}

/** Text without its entities. */
export function plain(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** The text of a document as a person reads it: one space between words. */
export function words(document: string): string {
  return parsed(document).text.replace(/\s+/g, ' ');
}
