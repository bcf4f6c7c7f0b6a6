/** Clients that common generators create from `/openapi.json` and its copy in OpenAPI 3.0: they compile, and use a sandbox. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../support/free-ports.ts';
import { startServiceProcess } from '../support/service-process.ts';

const generated = ['@hey-api/openapi-ts@0.99.0', 'orval@8.38.0', 'openapi-typescript@7.13.0'];
/** What `--install` brings from npm; kin-openapi is Debian's. */
export const clientPackages = [...generated, 'openapi-fetch@0.17.0', 'typescript@5.9.3'];

const GO_PATH = '/usr/share/gocode';
const BEGIN = `declare const process: { env: Record<string, string | undefined> };
const headers = { authorization: 'Bearer ' + process.env['KEY'] };
const address = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const body = { address, callback: 'https://shop.example/webhook', amount: '25.00' };
`;
const END = `
const type: string = page.events[0]?.type ?? 'none';
console.log(payment.payment_id, payment.provider, type, page.next_after);`;
const ORVAL = `export default { api: { input: 'openapi.json', output:
  { target: 'orval.ts', client: 'fetch', baseUrl: { getBaseUrlFromSpecification: true } } } };`;

const generators = {
  'openapi-ts -i openapi.json -o hey': `import { createCheckout, listEvents } from './hey/index';
import { client } from './hey/client.gen';
client.setConfig({ auth: process.env['KEY'] });
const { data: payment } = await createCheckout({ body, throwOnError: true });
const { data: page } = await listEvents({ query: { limit: 5 }, throwOnError: true });`,
  'orval --config orval.config.mjs': `import { createCheckout, listEvents } from './orval';
const { data: payment } = await createCheckout(body, { headers });
const { data: page } = await listEvents({ limit: 5 }, { headers });
if ('error' in payment || typeof page !== 'object' || 'error' in page) throw new Error('refused');`,
  'openapi-typescript openapi.json -o types.ts': `import createClient from 'openapi-fetch';
import type { paths } from './types';
const client = createClient<paths>({ baseUrl: process.env['URL'], headers });
const { data: payment, error } = await client.POST('/api/v1/wallet', { body });
const { data: page } = await client.GET('/merchant/v1/events', { params: { query: { limit: 5 } } });
if (payment === undefined || page === undefined) throw new Error(error?.error);`,
};

/** Runs a step by its name. */
type Check = (name: string, run: () => Promise<string>) => Promise<void>;

/** Returns why nothing was checked; null if the steps ran. */
export async function checkClients(
  folder: string,
  toolsFolder: string,
  check: Check,
): Promise<string | null> {
  const modules = join(toolsFolder, 'node_modules');
  if (!existsSync(join(modules, 'orval'))) return 'the generators are not installed';
  const [port = 0, adminPort = 0] = await freePorts(2);
  const URL = `http://127.0.0.1:${port}`;
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort), BASE_URL: URL };
  const service = await startServiceProcess({ DATA_DIR: join(folder, 'clients-data'), ...ports });
  const cwd = join(folder, 'clients');
  const go = { GO111MODULE: 'off', GOPATH: GO_PATH, GOCACHE: join(folder, 'go') };
  const env = { ...process.env, ...go, URL, KEY: service.demoKey() };
  const run = async (file: string, ...words: string[]) => {
    const failed = ({ stdout, stderr }: { stdout: string; stderr: string }) =>
      Promise.reject(new Error(`${stdout}${stderr}`.slice(-1_500)));
    const { stdout } = await promisify(execFile)(file, words, { cwd, env, timeout: 300_000 }).catch(failed);
    return stdout.trim();
  };
  const runTool = (words: string) => run('npx', '--no-install', ...words.split(' '));
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  try {
    mkdirSync(cwd);
    symlinkSync(modules, join(cwd, 'node_modules'));
    write('orval.config.mjs', ORVAL);
    for (const name of ['openapi.json', 'openapi-3.0.json'])
      write(name, await (await fetch(`${URL}/${name}`)).text());
    for (const [command, program] of Object.entries(generators))
      await check(`a client compiles and creates a checkout: ${command}`, async () => {
        await runTool(command);
        write('main.ts', `${BEGIN}${program}${END}`);
        const target = '--target es2022 --module esnext --moduleResolution bundler';
        await runTool(`tsc --strict --noEmit --skipLibCheck ${target} main.ts`);
        await runTool('esbuild --bundle --platform=node --format=esm --outfile=main.mjs main.ts');
        return run(process.execPath, 'main.mjs');
      });
    if (!existsSync(join(GO_PATH, 'src/github.com/getkin/kin-openapi')))
      console.log('not checked: kin-openapi is not installed');
    else
      await check('kin-openapi validates the copy in OpenAPI 3.0, and answers by it', async () =>
        run('go', 'run', join(import.meta.dirname, 'validate-answers.go')),
      );
  } finally {
    await service.end('SIGTERM');
  }
  return null;
}
