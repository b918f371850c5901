import { counted } from '../../base/observe/format.js';

/** What is wrong with some entries of a sitemap: how many they are, and the address of the first. */
export type Flaws = Map<keyof typeof FLAWS, { entries: number; first: string }>;

export const FLAWS = {
  missing: (entries: number) => `has no address in ${counted(entries, 'place')}; correct what writes it`,
  relative: (entries: number, first: string) =>
    `has ${counted(entries, 'relative link')} (${first.slice(0, 200)}); write them with https:// and the host`,
  foreign: (entries: number) => `has ${counted(entries, 'link')} outside the property, ignored`,
} as const;

export function count(flaws: Flaws, flaw: keyof typeof FLAWS, address = ''): void {
  const { entries, first } = flaws.get(flaw) ?? { entries: 0, first: address };
  flaws.set(flaw, { entries: entries + 1, first });
}
