/**
 * Runs the formatter and linter: `node tools/biome.ts check --write src`.
 *
 * Biome's own launcher package cannot be installed where the packages of some platforms are missing,
 * so the project depends on the platform packages directly and finds the binary itself.
 */
import { spawnSync } from 'node:child_process';
import { platformBinary } from '../test/support/platform-binary.ts';

const run = spawnSync(platformBinary('biome'), process.argv.slice(2), { stdio: 'inherit' });
if (run.error) throw run.error;
process.exit(run.status ?? 1);
