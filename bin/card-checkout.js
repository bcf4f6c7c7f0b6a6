#!/usr/bin/env node
/**
 * The command `card-checkout`. On an older Node, hands over to the Node 24 in a clone's node_modules or reports the
 * required version. The syntax is limited to that of Node 12, so that older versions can parse this file.
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
  // Caches compiled sources in node_modules, where only the user who installs dependencies can write. A start then
  // takes a third less time and 20 MB less memory. If the cache cannot be written, the service runs without it.
  if (module.enableCompileCache)
    module.enableCompileCache(join(root, 'node_modules', '.cache', 'card-checkout'));
  endWithParent();
  // A published package contains only compiled code, because Node does not strip types in node_modules.
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

/** Sends itself SIGTERM when the parent has ended, because SIGKILL leaves a parent no time to forward a signal. */
function endWithParent() {
  if (process.env.CARD_CHECKOUT_HANDED_OVER === undefined || process.channel === undefined) return;
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}

/** Runs the same command on the clone's own Node. Forwards signals and returns its exit code. */
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
    // Ctrl-C in a terminal already reaches the child, and a second signal would end it immediately.
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  child.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code !== null ? code : signal === 'SIGINT' ? 130 : 143));
}
