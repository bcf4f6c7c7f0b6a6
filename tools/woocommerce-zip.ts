/**
 * Builds `test-output/card-checkout.zip` of the WooCommerce plugin as it is in the last commit. It builds nothing where a rule
 * of wordpress.org is broken.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findBrokenRules } from './woocommerce-rules.ts';

const root = join(import.meta.dirname, '..');
const folder = 'plugins/woocommerce/card-checkout';
const output = 'test-output/card-checkout.zip';

const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });

if (!existsSync(join(root, '.git'))) {
  console.error(
    'The zip has the files of the last commit, and this folder is no clone: run the command in a clone.',
  );
  process.exit(1);
}
const entries = git('ls-tree', '-r', 'HEAD', `${folder}/`)
  .trimEnd()
  .split('\n')
  .map((line) => /^(\d+) blob \w+\t(.+)$/.exec(line))
  .map((match) => ({ mode: match?.[1] ?? '', path: match?.[2] ?? '' }));
const files = new Map(
  entries.map(({ path }) => [path.slice(folder.length + 1), git('show', `HEAD:${path}`)] as const),
);
const broken = [
  ...findBrokenRules(files),
  ...entries.filter(({ mode }) => mode !== '100644').map(({ path }) => `${path}: is executable or a link`),
];
if (broken.length > 0) {
  for (const line of broken) console.error(line);
  console.error(`${output} is not built: ${broken.length} rules are broken.`);
  process.exit(1);
}
mkdirSync(join(root, 'test-output'), { recursive: true });
git('archive', '--format=zip', '--prefix=card-checkout/', `--output=${output}`, `HEAD:${folder}`);
console.log(`${output}: ${files.size} files. No rule is broken that a machine can check.`);
