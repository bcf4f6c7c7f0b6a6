import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, Script } from 'node:vm';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InstalledSdk, installPackedSdk } from './pack-sdk.ts';

const root = join(import.meta.dirname, '..', '..');
let sdk: InstalledSdk;

const beginning = `
  import { ApiError, createClient, webhooks } from '@card-checkout/sdk';
  const client = createClient({ apiKey: 'service_live_x', baseUrl: 'https://pay.example' });
  const event = webhooks.constructEvent(new Uint8Array(), null, 'token');
  void ApiError;
  `;

beforeAll(() => {
  sdk = installPackedSdk();
});

afterAll(() => sdk.remove());

const textOf = (path: string) => readFileSync(join(sdk.packageFolder, path), 'utf8');

describe('the packed SDK', () => {
  it('holds what runs, its types, its description and its changes, and nothing else', () => {
    const names = sdk.packedFiles.filter((path) => !/^dist\/(?:commonjs\/)?[\w-]+\.(js|d\.ts)$/.test(path));
    expect(names).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/commonjs/package.json',
      'package.json',
    ]);
    for (const words of ['dist/sdk.js', 'dist/sdk.d.ts']) expect(sdk.packedFiles).toContain(words);
    const description = JSON.parse(textOf('package.json')) as Record<string, unknown>;
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
      expect(description[kind]).toBeUndefined();
  });

  it('verifies a webhook in a runtime that has only what the web has', async () => {
    const entry = join(sdk.folder, 'entry.js');
    writeFileSync(entry, "import * as sdk from '@card-checkout/sdk';\nglobalThis.sdk = sdk;\n");
    const bundle = await rolldown({ input: entry, platform: 'neutral', logLevel: 'silent' });
    const { output } = await bundle.generate({ format: 'iife' });
    await bundle.close();
    const globals = {
      TextEncoder,
      TextDecoder,
      URL,
      AbortController,
      setTimeout,
      clearTimeout,
      fetch,
      Response,
    };
    const context = createContext({ ...globals, result: '' });
    new Script(output[0].code).runInContext(context);
    new Script(`
      const { webhooks, verifyDepositAddress, createClient } = sdk;
      createClient({ apiKey: 'service_live_x', baseUrl: 'https://pay.example' });
      try { webhooks.constructEvent('{}', 'f'.repeat(64), 'token'); } catch (error) { result = error.reason; }
    `).runInContext(context);
    expect(context['result']).toBe('wrong_signature');
  });

  it('is required by a CommonJS project, with its types', () => {
    const project = join(sdk.folder, 'commonjs');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{"type":"commonjs"}');
    const code = `${beginning}const reason: string = event.paymentId; void reason; void client;`;
    writeFileSync(join(project, 'shop.ts'), code);
    writeFileSync(
      join(project, 'wrong.ts'),
      `${beginning}const wrong: number = event.paymentId; void wrong; void client;`,
    );
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: 'node16',
      target: 'es2022',
      types: [],
      lib: ['es2022', 'dom'],
    };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['shop.ts', 'wrong.ts'] }),
    );
    const { stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'],
      { cwd: project, encoding: 'utf8' },
    );
    expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/^wrong\.ts.*error TS2322/)]);
    const check = "process.stdout.write(typeof require('@card-checkout/sdk').webhooks.constructEvent)";
    writeFileSync(join(project, 'check.js'), check);
    expect(execFileSync(process.execPath, [join(project, 'check.js')], { encoding: 'utf8' })).toBe(
      'function',
    );
  });

  it('has types that a strict project of its own compiles with, and that refuse mistakes', () => {
    const shops = {
      'right.ts': "if (event.event === 'payment.forwarded') event.toWallet.slice();",
      'errors.ts': "client.payments.retrieve('p').catch((error) => error instanceof ApiError && error.code);",
      'wrong-event.ts': 'event.toWallet;',
      'wrong-request.ts': "client.checkouts.create({ amount: '1' });",
    };
    for (const [name, code] of Object.entries(shops))
      writeFileSync(join(sdk.folder, name), `${beginning}${code}`);
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2022',
      exactOptionalPropertyTypes: true,
      lib: ['es2022', 'dom'],
      types: [],
    };
    writeFileSync(
      join(sdk.folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: Object.keys(shops) }),
    );
    writeFileSync(join(sdk.folder, 'package.json'), '{"type":"module"}');
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', '.'], {
      cwd: sdk.folder,
      encoding: 'utf8',
    });
    const errors = stdout
      .split('\n')
      .flatMap((line) => /^(\S+)\(.*error (TS\d+)/.exec(line)?.slice(1).join(' ') ?? []);
    expect(errors).toEqual(['wrong-event.ts TS2339', 'wrong-request.ts TS2739']);
  });
});
