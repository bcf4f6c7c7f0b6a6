/** What `npm audit --json` says, as a verdict. */

/** `vulnerable` names what has to be replaced; `unknown` has the reason why no audit ran. */
export type AuditVerdict =
  | { readonly kind: 'fine' }
  | { readonly kind: 'vulnerable'; readonly packages: readonly string[] }
  | { readonly kind: 'unknown'; readonly reason: string };

/** The fields of the report, version 2, that are read here. */
interface Report {
  readonly auditReportVersion?: number;
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
  readonly message?: string;
  readonly error?: { readonly code?: string; readonly summary?: string };
}

interface Vulnerability {
  readonly severity: string;
  /** Advisories, or the names of the dependencies that have them. */
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
}

const severe = new Set(['high', 'critical']);

/** Only high and critical advisories count: the others are for people to decide. */
export function readAudit(output: string): AuditVerdict {
  const report = parse(output);
  if (report === null) return { kind: 'unknown', reason: 'no answer' };
  if (report.auditReportVersion !== 2 || report.vulnerabilities === undefined) {
    return { kind: 'unknown', reason: report.message ?? report.error?.code ?? 'an answer of another form' };
  }
  const packages = Object.entries(report.vulnerabilities)
    .filter(([, { severity }]) => severe.has(severity))
    .map(([name, { severity, via }]) => `${name} (${severity}): ${via.map(describe).join('; ')}`);
  return packages.length === 0 ? { kind: 'fine' } : { kind: 'vulnerable', packages };
}

function describe(cause: Vulnerability['via'][number]): string {
  return typeof cause === 'string' ? `by ${cause}` : `${cause.title} ${cause.url}`;
}

function parse(output: string): Report | null {
  try {
    const value = JSON.parse(output) as unknown;
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}
