import { execFile } from 'node:child_process';
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { newcomersPath } from './newcomers-path.ts';
import { processesUsing } from './processes-using.ts';
import { waitFor } from './wait-for.ts';

const root = join(import.meta.dirname, '..', '..');

/** How npm gets packages on this machine, and where temporary files belong; nothing that would configure a service. */
const kept =
  /^(HOME|TMPDIR|LANG|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|npm_config_(cache|cafile|globalconfig|registry|strict_ssl|userconfig))$/i;

/** What is made in a working folder and belongs into no archive of it. */
const made = /^(\.git|\.env|data|coverage|test-output|sdk\/dist|contracts\/(cache|out)|(.+\/)?node_modules)$/;

/** The project as somebody has it who has only just cloned it. */
export interface NewcomersClone {
  readonly folder: string;
  /** For the commands that they type: this machine's, without anything that is installed in this project. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends by force whatever still runs there, and removes the folder. */
  remove(): Promise<void>;
}

/**
 * Clones the last commit; what has not been committed is not in it. Where git cannot, as in an unpacked archive, the
 * newcomer gets a copy of what an archive holds.
 */
export async function cloneAsNewcomer(): Promise<NewcomersClone> {
  const own = Object.entries(process.env).filter(([name]) => kept.test(name));
  const environment = {
    ...(Object.fromEntries(own) as Record<string, string>),
    PATH: newcomersPath(),
    // What npm has fetched once need not be asked for again; and it leaves no logs in the home folder.
    npm_config_prefer_offline: 'true',
    npm_config_logs_max: '0',
    npm_config_update_notifier: 'false',
  };
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'card-checkout-start-')));
  const remove = async () => {
    // One that is about to end may start another meanwhile.
    await waitFor('what runs in the clone to end', 30_000, () => {
      const left = processesUsing(folder);
      for (const { pid } of left) endByForce(pid);
      return left.length === 0;
    });
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const cloning = promisify(execFile)('git', ['clone', '--quiet', root, folder], { env: environment });
    const isCloned = await cloning.then(
      () => true,
      () => false,
    );
    if (!isCloned)
      await cp(root, folder, { recursive: true, filter: (path) => !made.test(relative(root, path)) });
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, environment, remove };
}

function endByForce(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
