// @ts-nocheck: plain JavaScript, which npm runs as it stands.
/** Builds the package as ES modules and CommonJS, each with declarations whose imports end in `.js`. */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
const run = (command, ...words) => execFileSync(command, words, { stdio: 'inherit' });
run('rolldown', 'src/sdk.ts', '--file', 'dist/sdk.js', '--platform', 'neutral');
run('rolldown', 'src/sdk.ts', '--file', 'dist/commonjs/sdk.js', '--format', 'cjs', '--platform', 'neutral');
run('tsc', '-p', 'tsconfig.json');
// Replaces `.ts` in the imports of declarations, which users of the package could not resolve.
for (const name of readdirSync('dist').filter((each) => each.endsWith('.d.ts'))) {
  const text = readFileSync(`dist/${name}`, 'utf8').replaceAll(
    /(from |import\()'(\.\/[\w-]+)\.ts'/g,
    "$1'$2.js'",
  );
  writeFileSync(`dist/${name}`, text);
  cpSync(`dist/${name}`, `dist/commonjs/${name}`);
}
writeFileSync('dist/commonjs/package.json', '{"type":"commonjs"}');
