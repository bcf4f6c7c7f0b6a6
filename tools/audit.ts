/**
 * Asks the package registry about known vulnerabilities of production dependencies. Fails if one is high or critical;
 * people decide about the others. If the registry does not answer or has no advisories, reports that without failing,
 * because an unreachable registry is no fault of the code.
 *
 * `node tools/audit.ts [registry]`
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** npm alone takes seconds to begin, on a busy machine many; the answer is waited for below. */
const TIMEOUT_MS = 90_000;
const ANSWER_MS = 10_000;

/** The fields of the report, version 2, that are read here. */
interface Report {
  readonly auditReportVersion?: number;
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
  readonly message?: string;
}

interface Vulnerability {
  readonly severity: string;
  /** Advisories, or the names of the dependencies that have them. */
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
}

const { auditReportVersion, vulnerabilities, message = 'no answer' } = await readReport(process.argv[2]);
if (auditReportVersion !== 2 || vulnerabilities === undefined) {
  console.log(`not checked: ${message.split('\n')[0]}`);
} else {
  const severe = Object.entries(vulnerabilities).filter(([, { severity }]) =>
    /^(high|critical)$/.test(severity),
  );
  for (const [name, { severity, via }] of severe) {
    const causes = via.map((cause) =>
      typeof cause === 'string' ? `by ${cause}` : `${cause.title} ${cause.url}`,
    );
    console.log(`${name} (${severity}): ${causes.join('; ')}`);
  }
  if (severe.length === 0) console.log('no known weakness of high or critical severity');
  else process.exitCode = 1;
}

/** Output of npm, which exits with an error if it finds something; empty after a timeout, or if npm cannot run. */
function readReport(registry: string | undefined): Promise<Report> {
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
  return new Promise((resolve) =>
    execFile('npm', words, options, (_error, stdout) => {
      try {
        resolve(Object(JSON.parse(stdout)));
      } catch {
        resolve({});
      }
    }),
  );
}
