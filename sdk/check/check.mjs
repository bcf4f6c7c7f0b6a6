// @ts-nocheck: plain JavaScript with packages that only this check installs.
/** Bundles the packed SDK for each target and checks its package.json and types with publint and attw. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, Script } from 'node:vm';
import { build } from 'esbuild';
import { publint } from 'publint';
import webpack from 'webpack';

const sdk = join(import.meta.dirname, 'node_modules/@card-checkout/sdk');
const entry = join(import.meta.dirname, 'entry.js');
writeFileSync(
  entry,
  `import { createClient, verifyDepositAddress, webhooks } from '@card-checkout/sdk';
createClient({ apiKey: 'service_live_x', baseUrl: 'https://pay.example' });
globalThis.signature = webhooks.sign('{}', 'token');
globalThis.verify = typeof verifyDepositAddress;`,
);

/** Runs a bundle with web globals but without those of Node. */
function runBundle(file, what) {
  const text = readFileSync(file, 'utf8');
  assert.ok(!/\bimport\s*\(|\brequire\s*\(/.test(text), `${what} still imports a module`);
  const context = createContext({ URL, TextEncoder, TextDecoder, crypto });
  new Script(text).runInContext(context);
  assert.match(context.signature, /^[0-9a-f]{64}$/, what);
  console.log(`ok   ${what}`);
}

for (const platform of ['browser', 'neutral', 'node']) {
  const outfile = join(import.meta.dirname, `esbuild-${platform}.js`);
  await build({ entryPoints: [entry], outfile, bundle: true, platform, format: 'iife', logLevel: 'error' });
  runBundle(outfile, `esbuild for ${platform}`);
}

for (const target of ['web', 'webworker', 'node']) {
  const filename = `webpack-${target}.js`;
  const output = { path: import.meta.dirname, filename };
  const stats = await new Promise((resolve, reject) => {
    webpack({ mode: 'production', entry, target, output }, (error, result) =>
      error === null ? resolve(result) : reject(error),
    );
  });
  assert.ok(!stats.hasErrors() && !stats.hasWarnings(), stats.toString());
  runBundle(join(import.meta.dirname, filename), `webpack for ${target}`);
}

const { messages } = await publint({ pkgDir: sdk, strict: true });
assert.deepEqual(messages, []);
console.log('ok   publint');

execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', import.meta.dirname], {
  cwd: sdk,
});
const [tarball] = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.tgz'));
execFileSync(join(import.meta.dirname, 'node_modules/.bin/attw'), [tarball], {
  cwd: import.meta.dirname,
  stdio: 'pipe',
});
console.log('ok   attw: node10, CommonJS, ES modules, bundlers');
