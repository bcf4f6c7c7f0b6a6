/** The published package, built and packed, unpacked as npm would, and run. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import packageDescription from '#package' with { type: 'json' };
import { docPagesFor } from '../../src/pages/docs/doc-pages.ts';
import { read, root } from '../docs/markdown.ts';
import { installPackedSdk } from '../sdk/pack-sdk.ts';
import { freePorts } from '../support/free-ports.ts';
import { newcomersPath } from '../support/newcomers-path.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder(afterAll);
let installed: string;
let files: readonly string[];

beforeAll(() => {
  const pack = [join(root, 'tools', 'package.ts'), join(folder, 'staged')];
  const tarball = execFileSync(process.execPath, pack, { encoding: 'utf8' }).trim();
  const modules = join(folder, 'node_modules');
  installed = join(modules, 'card-checkout');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  const description = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    readonly dependencies: object;
    readonly optionalDependencies: object;
  };
  for (const name of Object.keys({ ...description.dependencies, ...description.optionalDependencies })) {
    if (!existsSync(join(root, 'node_modules', name))) continue;
    if (name.includes('/')) mkdirSync(join(modules, name.split('/')[0] ?? ''), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
});

it('holds what it needs and nothing else: no test, no source, no data, no secret', () => {
  const places = new Set(files.map((file) => /^(?:[\w-]+\/)?/.exec(file)?.[0] || file));
  const single = '.env.example .github/SECURITY.md CHANGELOG.md LICENSE README.md package.json';
  const folders = 'bin/ contracts/ deploy/ docs/ sandbox/ sdk-python/ sdk/ src/';
  expect([...places].sort()).toEqual(`${single} ${folders}`.split(' ').sort());
  const unwanted = files.filter((file) =>
    /\.ts$|\.test\.|\.sqlite|tsconfig|\.env$|\/decisions\/|node_modules/.test(file),
  );
  expect(unwanted).toEqual([]);
  const keys = files.filter((file) => /\.pem$|\.key$/.test(file));
  // Public ones, which the sandbox alone trusts.
  expect(keys.every((file) => file.startsWith('sandbox/shop/'))).toBe(true);
  for (const needed of [
    'src/main.js',
    'deploy/continuous-copy.sh',
    'src/web/checkout-layout/checkout.css',
    'docs/start.md',
    'docs/images/states.svg',
  ]) {
    expect(files).toContain(needed);
  }
});

it('has every page that it serves', () => {
  const pages = docPagesFor({ isTestMode: true }).map(({ file }) => file);
  expect(pages.filter((file) => !files.includes(file))).toEqual([]);
  const image = read('Dockerfile');
  for (const file of pages.filter((each) => !each.startsWith('docs/')))
    expect(image).toContain(`COPY ${file} ./${file}`);
  expect(image).toContain('COPY docs ./docs');
});

it('in the image installs the binary that draws pictures, and no tool of development', () => {
  const [, steps = ''] = /^RUN (npm (?:.*\\\n)*.*)$/m.exec(read('Dockerfile')) ?? [];
  const image = join(folder, 'image');
  mkdirSync(image);
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    cpSync(join(root, file), join(image, file));
  // What npm would install, without the registry and without installing it.
  const dryRun = steps
    .replace('npm ci ', 'npm ci --dry-run --offline ')
    .replace(/\s+(?:\\\n\s*)?&& npm cache .*$/, '');
  expect(dryRun).toContain('--dry-run');
  const output = execFileSync('sh', ['-c', dryRun], { cwd: image, encoding: 'utf8', stdio: 'pipe' });
  const added = [...output.matchAll(/^add (\S+) /gm)].map(([, name]) => name);
  const machine = `${process.platform}-${process.arch}`;
  expect(added.filter((name) => name?.startsWith('@img/sharp-')).sort()).toEqual([
    `@img/sharp-libvips-${machine}`,
    `@img/sharp-${machine}`,
  ]);
  expect(added).toEqual(expect.arrayContaining(Object.keys(packageDescription.dependencies)));
  const tools = Object.keys(packageDescription.optionalDependencies);
  const isTool = (name = '') =>
    tools.includes(name) || /^@?(?:typescript|vitest|biomejs|solc|playwright|foundry)\b/.test(name);
  expect(added.filter(isTool)).toEqual([]);
});

it('has a description without what only a clone needs', () => {
  const description = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(Object.keys(description)).not.toEqual(expect.arrayContaining(['scripts']));
  expect(description).not.toHaveProperty('private');
  expect(description).not.toHaveProperty('devDependencies');
  expect(description).toMatchObject({ version: packageDescription.version, engines: { node: '>=24' } });
});

it('runs the sandbox, in which the packed SDK of a shop gets a payment paid', async () => {
  const sdk = installPackedSdk();
  const [port = 0] = await freePorts(1);
  const environment = { PATH: newcomersPath(), HOME: folder, DATA_DIR: join(folder, 'sandbox') };
  const command = [join(installed, 'bin/card-checkout.js')];
  const sandbox = spawn(process.execPath, [...command, 'start', '--json'], {
    cwd: folder,
    env: { ...environment, PORT: String(port), ADMIN_PORT: String(port + 1) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(sandbox, 'exit');
  try {
    let line = '';
    for await (line of createInterface({ input: sandbox.stdout })) if (line.startsWith('{"base_url"')) break;
    sandbox.stdout.resume();
    const shop = join(sdk.folder, 'shop.mjs');
    writeFileSync(
      shop,
      `import { createClient } from '@card-checkout/sdk';
const { base_url: baseUrl, api_key: apiKey, merchant_wallet: address, webhook_callback: callback } = ${line};
const client = createClient({ apiKey, baseUrl });
const payment = await client.checkouts.create({ address, callback, amount: '25.00' }, { idempotencyKey: 'order-1' });
console.log(payment.payment_id);
`,
    );
    const run = (...words: string[]) =>
      execFileSync(process.execPath, words, {
        cwd: folder,
        encoding: 'utf8',
        env: environment,
        timeout: 60_000,
      });
    expect(run(...command, '--version').trim()).toBe(packageDescription.version);
    const id = run(shop).trim();
    run(...command, 'sandbox', 'pay', id);
    await expect.poll(() => run(...command, 'payment', 'show', id), { timeout: 60_000 }).toMatch(/\bpaid\b/);
  } finally {
    sandbox.kill('SIGINT');
    await ended;
    sdk.remove();
  }
  expect(sandbox.exitCode).toBe(0);
});

it('has a bill of materials in CycloneDX of what it runs on, and of no tool of development', () => {
  const output = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8' });
  const bill = JSON.parse(output) as { bomFormat: string; components: readonly { name: string }[] };
  expect(bill.bomFormat).toBe('CycloneDX');
  const names = bill.components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.keys(packageDescription.dependencies)));
  expect(names.filter((name) => /^(?:vitest|typescript|playwright-core|solc)$/.test(name))).toEqual([]);
});
