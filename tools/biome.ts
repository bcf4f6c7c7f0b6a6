/**
 * Runs the formatter and linter: `node tools/biome.ts check --write src`.
 *
 * Biome's own launcher package cannot be installed where the packages of some platforms are missing,
 * so the project depends on the platform packages directly and finds the binary itself.
 */
import { spawnSync } from 'node:child_process';
import { platformBinary } from './platform-binary.ts';

const binary = platformBinary('biome');
if (binary === undefined) {
  console.error(
    `biome has no package for ${process.platform}-${process.arch} in package.json; nothing was formatted or linted.`,
  );
  process.exit(1);
}

const run = spawnSync(binary, process.argv.slice(2), { stdio: 'inherit' });
if (run.error) throw run.error;
process.exit(run.status ?? 1);
