/** Runs `npm test` in a copy of each separate package, with the packed SDK and dependencies from npm. */
import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackedSdk } from '../../test/sdk/pack-sdk.ts';
import { startSandboxProcess } from '../sandbox-process.ts';
import type { Outcome } from './check-proxy.ts';
import { collectOutcomes } from './host-service.ts';

const root = join(import.meta.dirname, '..', '..');
/** Time limit for the installation or test of a package. */
const PACKAGE_MS = 15 * 60_000;

/** Tests find a sandbox at `CARD_CHECKOUT_URL`, and the program that pays there at `CARD_CHECKOUT_PROGRAM`. */
export async function checkPackages(folder: string): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  const sdk = installPackedSdk();
  const service = await startSandboxProcess(join(folder, 'packages-data'));
  const env = {
    ...process.env,
    ...service.environment,
    CARD_CHECKOUT_URL: service.url,
    CARD_CHECKOUT_KEY: service.demoKey(),
    CARD_CHECKOUT_PROGRAM: join(root, 'bin/card-checkout.js'),
  };
  try {
    for (const name of ['sdk/check', 'plugins/mcp', 'plugins/medusa', 'plugins/vendure']) {
      const cwd = join(folder, name);
      cpSync(join(root, name), cwd, { recursive: true, filter: (path) => !path.includes('node_modules') });
      const npm = (...words: string[]) =>
        promisify(execFile)('npm', words, { cwd, env, timeout: PACKAGE_MS, maxBuffer: 1 << 26 }).then(
          ({ stdout }) => stdout,
          ({ stdout, stderr }) => Promise.reject(new Error(`${stdout}${stderr}`.slice(-1_400))),
        );
      await check(`${name} installs and passes its tests`, async () => {
        await npm(
          'install',
          '--install-links',
          '--no-audit',
          '--no-fund',
          '--no-package-lock',
          sdk.packageFolder,
        );
        return `${(await npm('test')).match(/^ok /gm)?.length ?? 0} checks`;
      });
    }
  } finally {
    await service.end('SIGTERM');
    sdk.remove();
  }
  return outcomes;
}
