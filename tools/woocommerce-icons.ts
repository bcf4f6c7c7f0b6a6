/** Draws the icons that wordpress.org shows, from plugins/woocommerce/assets/icon.svg: `node tools/woocommerce-icons.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';

export const assets = join(import.meta.dirname, '..', 'plugins', 'woocommerce', 'assets');
/** Sizes in pixels; the directory also takes the SVG, and requires a PNG beside it. */
export const iconSizes: readonly number[] = [128, 256];

export function drawIcon(sizePixels: number): Promise<Buffer> {
  return sharp(join(assets, 'icon.svg')).resize(sizePixels).png().toBuffer();
}

if (import.meta.main) {
  for (const size of iconSizes) writeFileSync(join(assets, `icon-${size}x${size}.png`), await drawIcon(size));
}
