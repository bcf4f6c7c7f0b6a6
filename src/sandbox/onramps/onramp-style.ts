import { createHash } from 'node:crypto';

/** Deliberately loud and unlike the checkout: nobody shall take the one for the other. */
export const onrampStyle = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #fdf3d8; color: #2b1a00; font: 1.05rem/1.5 Georgia, 'Times New Roman', serif; }
.banner { margin: 0; padding: .9rem 1rem; text-align: center; font: bold 1rem/1.4 'Courier New', monospace;
  color: #000; background: repeating-linear-gradient(135deg, #ffcf33 0 22px, #ffe07a 22px 44px);
  border-bottom: 4px solid #000; }
main { max-width: 34rem; margin: 1.5rem auto; padding: 0 1rem 3rem; }
h1 { font-size: 1.6rem; margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0 0 1.25rem; }
dt { font-weight: bold; } dd { margin: 0; overflow-wrap: anywhere; }
form, .box { background: #fff; border: 3px solid #2b1a00; padding: 1rem; margin: 0 0 1.25rem; }
label { display: block; font-weight: bold; margin: .6rem 0 .2rem; }
input { width: 100%; font: 1.1rem 'Courier New', monospace; padding: .5rem; border: 2px solid #2b1a00; }
.row { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
button { margin-top: 1rem; width: 100%; padding: .8rem; font: bold 1.1rem Georgia, serif; color: #fff;
  background: #7a2e00; border: 0; cursor: pointer; }
button:focus-visible, a:focus-visible, input:focus-visible { outline: 3px solid #0047ff; outline-offset: 2px; }
a { color: #7a2e00; }
.alert { border: 3px solid #a30000; background: #ffe9e6; padding: .75rem 1rem; margin: 0 0 1.25rem; }
code { font-family: 'Courier New', monospace; }
`;

/** Lets the page use exactly this style, no script and nothing from anywhere else. */
export const onrampContentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(onrampStyle).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
