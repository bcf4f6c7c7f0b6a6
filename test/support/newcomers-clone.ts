import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newcomersPath } from '../../scripts/newcomers-path.ts';
import { processesUsing } from './processes-using.ts';
import { waitFor } from './wait-for.ts';

const root = join(import.meta.dirname, '..', '..');

/** How npm gets packages on this machine, and where temporary files belong; nothing that would configure a service. */
const kept = /^(HOME|TMPDIR|LANG|(https?|no|all)_proxy|npm_config_(cache|registry|userconfig))$/i;

/** The project as somebody has it who has only just cloned it. */
export interface NewcomersClone {
  readonly folder: string;
  /** For the commands that they type: this machine's, without anything that is installed in this project. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends by force whatever still runs there, and removes the folder. */
  remove(): Promise<void>;
}

/** Clones the last commit; what has not been committed is not in it. Throws without git or where this is no checkout. */
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
    await promisify(execFile)('git', ['clone', '--quiet', root, folder], { env: environment });
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
