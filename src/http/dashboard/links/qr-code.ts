import { encode } from 'uqr';
import { type Html, html } from '../../design/html.ts';

/** Free squares around the code, without which cameras do not find it. */
const MARGIN = 4;

/** A link as a picture for cameras: dark on white in the dark as well, or half of them read nothing. */
export function qrCode(url: string): Html {
  const { data, size } = encode(url, { ecc: 'M', border: 0 });
  const rows = data.flatMap((row, y) =>
    row.map((isDark, x) => (isDark ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : '')),
  );
  const whole = size + 2 * MARGIN;
  return html`<svg class="qr" viewBox="0 0 ${whole} ${whole}" role="img" aria-label="QR code of the link" shape-rendering="crispEdges"><rect width="${whole}" height="${whole}" fill="#fff"></rect><path fill="#000" d="${rows.join('')}"></path></svg>`;
}
