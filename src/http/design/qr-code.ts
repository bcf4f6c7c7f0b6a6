import { encode } from 'uqr';
import { type Html, html } from './html.ts';

/** The quiet zone around the code, which scanners need. */
const QUIET_MODULES = 4;

/** A QR code as SVG: dark on light in either colour scheme, because scanners expect it so. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_MODULES });
  const path = data
    .flatMap((row, y) => darkRuns(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`))
    .join('');
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" width="220" height="220" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
}

/** A run of dark modules in a row of a code: start and length. */
export function darkRuns(row: readonly boolean[]): readonly (readonly [number, number])[] {
  const text = row.map((isDark) => (isDark ? '1' : '0')).join('');
  return [...text.matchAll(/1+/g)].map(({ 0: run, index }) => [index, run.length]);
}
