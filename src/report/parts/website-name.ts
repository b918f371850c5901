import { shortened } from '../../html/html.js';
import type { Section, WebsiteFacts } from '../section.js';

const NAME_CHARACTERS = 80;

/** What a website is called; its id where it has no name. */
export function nameOf({ website: { website_id, website_name } }: WebsiteFacts): string {
  return shortened(website_name || website_id, NAME_CHARACTERS);
}

export function nameOfWebsite({ websites }: Section, id: string): string {
  const facts = websites.find(({ website }) => website.website_id === id);
  return facts ? nameOf(facts) : shortened(id, NAME_CHARACTERS);
}
