/**
 * For maintainers: clones the last commit into an empty folder and runs `npm test` there, as a newcomer would. This
 * detects dependencies on uncommitted files. Removes the folder afterwards.
 *
 * `node tools/fresh-clone.ts [npm script, default: test]`, or `--short` to say only whether an installation would begin
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newcomersPath } from '../test/support/newcomers-path.ts';

const root = join(import.meta.dirname, '..');
const script = process.argv[2] ?? 'test';
const folder = mkdtempSync(join(tmpdir(), 'card-checkout-clone-'));

try {
  if (!existsSync(join(root, '.git'))) console.log('not checked: this folder is no clone');
  else process.exitCode = tryClone();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function tryClone(): number {
  run('git', ['clone', '--quiet', '--no-hardlinks', root, folder], root);
  if (script !== '--short') return run('npm', ['run', script], folder);
  const words = [
    'ci',
    '--dry-run',
    '--ignore-scripts',
    '--engine-strict=false',
    '--loglevel=error',
    '--silent',
  ];
  return run('npm', words, folder);
}

/** Runs a command to its end and returns its exit code. */
function run(command: string, parameters: string[], cwd: string): number {
  const { status, error } = spawnSync(command, parameters, {
    cwd,
    stdio: 'inherit',
    env: newcomersEnvironment(),
  });
  if (error) throw error;
  if (status !== 0) console.error(`${command} ${parameters.join(' ')}: exit ${status}`);
  return status ?? 1;
}

/** Environment without npm's additions for this project, above all its Node on the PATH. */
function newcomersEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  return { ...Object.fromEntries(own), PATH: newcomersPath() };
}
