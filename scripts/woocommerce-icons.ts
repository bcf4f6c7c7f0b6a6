/** Draws the icons that wordpress.org shows, from woocommerce/assets/icon.svg: `node scripts/woocommerce-icons.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Resvg } from '@resvg/resvg-js';

export const assets = join(import.meta.dirname, '..', 'woocommerce', 'assets');
/** Sizes in pixels; the directory also takes the SVG, and requires a PNG beside it. */
export const iconSizes: readonly number[] = [128, 256];

export function drawIcon(sizePixels: number): Buffer {
  const svg = readFileSync(join(assets, 'icon.svg'), 'utf8');
  return new Resvg(svg, { fitTo: { mode: 'width', value: sizePixels } }).render().asPng();
}

if (import.meta.main) {
  for (const size of iconSizes) writeFileSync(join(assets, `icon-${size}x${size}.png`), drawIcon(size));
}
