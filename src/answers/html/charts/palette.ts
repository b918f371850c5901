/**
 * The colours of the charts on a light ground. A chart is drawn in these; on a dark ground the style sheet replaces each
 * of them by its counterpart, which it finds by the value of `fill` and `stroke`: no two may be the same.
 */
export const PALETTE = {
  indexed: { light: '#2f6fb3', dark: '#5fa2e6' },
  notIndexed: { light: '#e08e2b', dark: '#e9a550' },
  noData: { light: '#c3c9d1', dark: '#5d6673' },
  partial: { light: '#b3261e', dark: '#ff8a80' },
  period: { light: '#eef2f8', dark: '#20293a' },
  text: { light: '#525c69', dark: '#a3adba' },
  line: { light: '#d5dae1', dark: '#3a4350' },
  alsoIndexed: { light: '#8fbbe8', dark: '#a9d1f7' },
  out1: { light: '#8f4a12', dark: '#a65f2b' },
  out2: { light: '#ecd06f', dark: '#f0dc95' },
  out3: { light: '#a24f86', dark: '#cf82b4' },
  gain: { light: '#1b7f4d', dark: '#55c98c' },
} as const;

export type Colour = keyof typeof PALETTE;

/** From few to many: one hue, darker and darker, and on a dark ground lighter and lighter. */
const HEAT = {
  light: ['#eaf1f9', '#d3e2f2', '#b5cfe9', '#8fb6dc', '#689bcd', '#3d74ae', '#2a5c9a', '#143f78'],
  dark: ['#1b2734', '#20344a', '#264463', '#2c5379', '#316291', '#5089bd', '#78aada', '#b0d4f5'],
} as const;

export function colour(name: Colour): string {
  return PALETTE[name].light;
}

/** Rules that turn each colour of a chart into the one for a dark ground. */
export function darkRules(): string {
  return Object.values(PALETTE)
    .map(({ light, dark }) => `svg [fill="${light}"]{fill:${dark}}svg [stroke="${light}"]{stroke:${dark}}`)
    .join('');
}

/** Rules that give each step of a heat map its ground. */
export function heatRules(scheme: keyof typeof HEAT): string {
  return HEAT[scheme].map((ground, step) => `.h${step}{background:${ground}}`).join('');
}
