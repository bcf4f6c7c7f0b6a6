/**
 * Asks the package registry whether a production dependency has a known weakness. Ends with an error when one is high or
 * critical. Where the registry does not answer, offline or because it has no advisories, it says so and ends without
 * one: an unreachable registry is no fault of the code.
 *
 * `node scripts/audit.ts [registry]`
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { readAudit } from './audit-report.ts';

/** npm alone takes seconds to begin, on a busy machine many; who answers is waited for below. */
const TIMEOUT_MS = 90_000;
const ANSWER_MS = 10_000;

const registry = process.argv[2];
const verdict = readAudit(await runAudit());
if (verdict.kind === 'unknown') console.log(`not checked: ${verdict.reason.split('\n')[0]}`);
if (verdict.kind === 'fine') console.log('no known weakness of high or critical severity');
if (verdict.kind === 'vulnerable') {
  for (const line of verdict.packages) console.log(line);
  process.exitCode = 1;
}

/** What npm prints, or nothing when it takes too long or cannot be run. It fails when it finds something. */
function runAudit(): Promise<string> {
  const words = [
    'audit',
    '--omit=dev',
    '--json',
    '--fetch-retries=0',
    `--fetch-timeout=${ANSWER_MS}`,
    '--logs-max=0',
    ...(registry === undefined ? [] : [`--registry=${registry}`]),
  ];
  const options = { cwd: join(import.meta.dirname, '..'), timeout: TIMEOUT_MS, maxBuffer: 32 * 1024 * 1024 };
  return new Promise((resolve) => execFile('npm', words, options, (_error, stdout) => resolve(stdout)));
}
