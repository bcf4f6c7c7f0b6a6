import { encode } from 'uqr';
import { type Html, html } from './html.ts';

const QUIET_MODULES = 4;

/** Draws a QR code as SVG, dark on light in both color schemes, as scanners expect. */
export function qrCode(text: string, label: string): Html {
  return drawing(text, html` class="qr" role="img" aria-label="${label}" width="220" height="220"`);
}

/** Draws a QR code with a link that saves it as a file without a request. */
export function qrCodeToSave(text: string, label: string): Html {
  const file = `data:image/svg+xml,${encodeURIComponent(qrCodeFile(text))}`;
  return html`${qrCode(text, label)}
<p><a class="button" href="${file}" download="qr-code.svg">Download QR code</a></p>`;
}

export function qrCodeFile(text: string): string {
  return drawing(text, html` xmlns="http://www.w3.org/2000/svg"`).toString();
}

/** Draws each row of dark modules as a stroke with relative coordinates, which compress best. */
function drawing(text: string, attributes: Html): Html {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_MODULES });
  const rows = data.map((row, y) => {
    let end = 0;
    const bits = row.map((isDark) => (isDark ? '1' : '0')).join('');
    const runs = [...bits.matchAll(/1+/g)].map(({ 0: run, index }) => {
      const move = end === 0 ? `M${index} ${y}.5` : `m${index - end} 0`;
      end = index + run.length;
      return `${move}h${run.length}`;
    });
    return runs.join('');
  });
  return html`<svg${attributes} viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="100%" height="100%" fill="#fff"/><path d="${rows.join('')}" stroke="#000"/></svg>`;
}
