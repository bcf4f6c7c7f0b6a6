import { invalidField } from '../payment/errors.ts';

/** Color as six hexadecimal digits, such as `#0c5a49`. */
type Hex = `#${string}`;

/** Minimum contrast ratio of text, from WCAG 2.2, success criterion 1.4.3. */
const MINIMUM_CONTRAST = 4.5;
const WHITE = '#ffffff';
const BLACK = '#000000';
/** Background color of dark pages, as in `tokens.css`. */
const DARK_SHEET = '#161e1b';
const DARK_TEXT = '#0b1210';

/** Parses a shop's color; null for empty text. Throws `invalid_request` if white text on the color is hard to read. */
export function parseBrandColor(text: string): string | null {
  const typed = text.trim();
  if (typed === '') return null;
  const color = colorOf(typed);
  if (color === null) {
    throw invalidField('brand-color', 'must be a color in hexadecimal, such as #0c5a49');
  }
  const darker = darkerColorOf(typed);
  if (darker === null) return color;
  // Rounds down, so that no refused color appears to reach the minimum.
  const ratio = Math.floor(contrastOf(WHITE, color) * 100) / 100;
  throw invalidField(
    'brand-color',
    `must be darker: white text on ${color} has a contrast of ${ratio}:1 and needs ${MINIMUM_CONTRAST}:1. The nearest color that passes is ${darker}`,
  );
}

function colorOf(text: string): Hex | null {
  const [, digits] = /^#?((?:[0-9a-f]{3}){1,2})$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  return `#${(digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits).toLowerCase()}`;
}

/** Returns the nearest darker color on which white text is readable; null if no change is needed, or if invalid. */
export function darkerColorOf(text: string): string | null {
  const color = colorOf(text);
  if (color === null) return null;
  const darker = mixUntil(color, BLACK, (shade) => contrastOf(WHITE, shade) >= MINIMUM_CONTRAST);
  return darker === color ? null : darker;
}

type BrandTokens = Readonly<
  Record<'accent' | 'accent-text' | 'accent-strong' | 'tint' | 'panel' | 'panel-text' | 'panel-soft', Hex>
>;

/** Derives readable colors for light and dark pages from a color that `parseBrandColor` accepted. */
export function brandTokens(color: string): { readonly light: BrandTokens; readonly dark: BrandTokens } {
  const brand = color as Hex;
  const lightened = mixUntil(brand, WHITE, (shade) => contrastOf(shade, DARK_SHEET) >= MINIMUM_CONTRAST);
  return {
    light: {
      accent: brand,
      'accent-text': WHITE,
      'accent-strong': mix(brand, BLACK, 0.3),
      tint: mix(brand, WHITE, 0.92),
      // Requires a higher contrast, because a panel also has softer text than white.
      ...panelOf(mixUntil(brand, BLACK, (shade) => contrastOf(WHITE, shade) >= 6)),
    },
    dark: {
      accent: lightened,
      'accent-text': DARK_TEXT,
      'accent-strong': mix(lightened, WHITE, 0.4),
      tint: mix(DARK_SHEET, brand, 0.2),
      ...panelOf(mixUntil(brand, BLACK, (shade) => contrastOf(WHITE, shade) >= 11)),
    },
  };
}

function panelOf(panel: Hex) {
  const soft = mixUntil(mix(panel, WHITE, 0.7), WHITE, (shade) => contrastOf(shade, panel) >= 4.8);
  return { panel, 'panel-text': WHITE, 'panel-soft': soft } as const;
}

/** Returns the mixture of both colors closest to `from` that passes; `to` if none passes. */
function mixUntil(from: Hex, to: Hex, passes: (shade: Hex) => boolean): Hex {
  for (let step = 0; step < 255; step++) {
    const shade = mix(from, to, step / 255);
    if (passes(shade)) return shade;
  }
  return to;
}

function mix(one: Hex, other: Hex, share: number): Hex {
  const others = channelsOf(other);
  const mixed = channelsOf(one).map((value, index) => value + ((others[index] ?? 0) - value) * share);
  return `#${mixed.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
}

function channelsOf(color: Hex): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

/** Returns the WCAG 2.2 contrast ratio between two colors, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color as Hex).map((value) => {
    const share = value / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
