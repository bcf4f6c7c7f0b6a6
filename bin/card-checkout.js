#!/usr/bin/env node
/**
 * The command `card-checkout`. Runs on any Node a machine may have, to say which one it needs or to hand over to
 * the Node 24 that a clone has in node_modules; hence JavaScript in the syntax of Node 12.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const oldestNode = 24;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src', 'main.ts');
const compiled = join(root, 'src', 'main.js');
const ownNode = join(root, 'node_modules', '.bin', 'node');

if (existsSync(source) && !existsSync(join(root, 'node_modules'))) {
  console.error(
    'Nothing is installed in this clone yet: run `node tools/setup.js --service` for the service, or `npm start` for the sandbox.',
  );
  process.exit(1);
} else if (Number(process.versions.node.split('.')[0]) >= oldestNode) {
  // Caches compiled sources: a start then takes two thirds of the time and 20 MB less. The cache is beside the
  // dependencies, where only whoever installs them may write; the service runs without it if it cannot be written.
  if (module.enableCompileCache)
    module.enableCompileCache(join(root, 'node_modules', '.cache', 'card-checkout'));
  endWithParent();
  // A published package has only the compiled form; Node does not strip types below node_modules.
  void import(pathToFileURL(existsSync(source) ? source : compiled).href);
} else if (existsSync(ownNode) && process.env.CARD_CHECKOUT_HANDED_OVER === undefined) {
  handOver();
} else {
  console.error(
    `card-checkout needs Node ${oldestNode} or newer; this is ${process.version}. ` +
      (existsSync(source)
        ? 'Run `node tools/setup.js` in the clone, which brings it along.'
        : 'Install it from nodejs.org or your system, then run the command again.'),
  );
  process.exit(1);
}

/** Ends as on SIGTERM once the process that handed over is gone, because SIGKILL leaves no time to pass it on. */
function endWithParent() {
  if (process.env.CARD_CHECKOUT_HANDED_OVER === undefined || process.channel === undefined) return;
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}

/** Runs the same command on the clone's own Node, and passes on signals and the exit code. */
function handOver() {
  // A busy service would take and keep 128 MB for short-lived objects; a quarter is enough (docs/performance.md).
  const parameters = ['--max-semi-space-size=16', fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(ownNode, parameters, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, CARD_CHECKOUT_HANDED_OVER: '1' },
  });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  process.on('SIGINT', () => {
    // A terminal's Ctrl-C has already reached the command, and a second signal would end it at once.
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  child.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code !== null ? code : signal === 'SIGINT' ? 130 : 143));
}
