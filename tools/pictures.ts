/**
 * Takes the pictures of the README and the documentation anew: the browser tests draw them as the service does, and they are kept.
 *   npm run pictures              all of them
 *   npm run pictures -- --short   draws the last of them, and keeps none
 */
import { execFileSync } from 'node:child_process';
import { access, copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const screenshots = join(root, 'test-output/screenshots');
/** The test that draws each, by its file and a part of its name, and what it is kept as. */
const pictures = [
  [
    'pages.test.ts',
    'is drawn for the README',
    {
      'readme-checkout.png': 'checkout.png',
      'readme-checkout-dark.png': 'checkout-dark.png',
      'readme-checkout-phone.png': 'checkout-phone.png',
      'readme-checkout-phone-dark.png': 'checkout-phone-dark.png',
      'readme-checkout-phone-brand.png': 'checkout-phone-brand.png',
    },
  ],
  [
    'dashboard-payments.test.ts',
    'the pages of payments on a desktop',
    {
      'readme-dashboard-home.png': 'dashboard-home.png',
      'readme-dashboard-home-dark.png': 'dashboard-home-dark.png',
      'readme-dashboard-payment.png': 'dashboard-payment.png',
      'readme-dashboard-payment-dark.png': 'dashboard-payment-dark.png',
    },
  ],
  [
    'payment-pages.test.ts',
    'on a desktop in light',
    {
      'readme-payment-page.png': 'payment-page.png',
      'readme-payment-page-dark.png': 'payment-page-dark.png',
    },
  ],
  [
    'operator.test.ts',
    'on a desktop in light',
    {
      'readme-operator-overview.png': 'operator-overview.png',
      'readme-operator-overview-dark.png': 'operator-overview-dark.png',
    },
  ],
] as const;

const isShort = process.argv.includes('--short');
for (const [file, name, kept] of isShort ? pictures.slice(-1) : pictures) {
  for (const drawn of Object.keys(kept)) await rm(join(screenshots, drawn), { force: true });
  const vitest = join(root, 'node_modules/.bin/vitest');
  const args = ['run', '--project', 'browser', `test/browser/${file}`, '-t', name];
  execFileSync(vitest, args, { cwd: root, stdio: 'inherit' });
  for (const [drawn, picture] of Object.entries(kept)) {
    if (isShort) await access(join(screenshots, drawn));
    else await copyFile(join(screenshots, drawn), join(root, 'docs/images', picture));
  }
}
