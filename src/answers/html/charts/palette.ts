/**
 * The colours of the charts on a light ground. A chart is drawn in these; on a dark ground the style sheet replaces each
 * of them by its counterpart, which it finds by the value of `fill` and `stroke`.
 */
export const PALETTE = {
  indexed: { light: '#2f6fb3', dark: '#5fa2e6' },
  notIndexed: { light: '#e08e2b', dark: '#e9a550' },
  noData: { light: '#c3c9d1', dark: '#5d6673' },
  partial: { light: '#b3261e', dark: '#ff8a80' },
  period: { light: '#eef2f8', dark: '#20293a' },
  text: { light: '#525c69', dark: '#a3adba' },
  line: { light: '#d5dae1', dark: '#3a4350' },
} as const;

export type Colour = keyof typeof PALETTE;

export function colour(name: Colour): string {
  return PALETTE[name].light;
}

/** Rules that turn each colour of a chart into the one for a dark ground. */
export function darkRules(): string {
  return Object.values(PALETTE)
    .map(({ light, dark }) => `svg [fill="${light}"]{fill:${dark}}svg [stroke="${light}"]{stroke:${dark}}`)
    .join('');
}
