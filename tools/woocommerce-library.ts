/**
 * Copies the PHP library into the WooCommerce plugin: `node tools/woocommerce-library.ts`. The copy has its own namespace,
 * so that another plugin's version of the library does not clash, and no HTTP client besides WordPress's.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', 'plugins');
const target = join(root, 'woocommerce', 'card-checkout', 'library');

/** Files of the copy, by name. */
export function libraryCopy(): ReadonlyMap<string, string> {
  const names = readdirSync(join(root, 'php', 'src')).filter((name) => name !== 'CurlTransport.php');
  return new Map(
    names.map((name) => [
      name,
      readFileSync(join(root, 'php', 'src', name), 'utf8')
        .replace(
          'namespace CardCheckout;\n',
          "namespace Card_Checkout_Library;\n\ndefined('ABSPATH') || exit;\n",
        )
        .replace(
          ' ?? new CurlTransport();',
          " ?? throw new \\InvalidArgumentException('a transport is missing');",
        ),
    ]),
  );
}

if (import.meta.main) {
  for (const [name, text] of libraryCopy()) writeFileSync(join(target, name), text);
}
