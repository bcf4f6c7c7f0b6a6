import type { ProviderId } from '../payment/provider-catalog.ts';

/** Target of an adapter's calls. Only production counts; another base URL is a simulator or a proxy. */
export interface ProviderEndpoint {
  readonly environment: 'production' | 'test' | 'simulated';
  /** Called URLs, without credentials and query strings. */
  readonly urls: readonly string[];
}

export interface EvidenceStep {
  readonly step: 'catalog' | 'quote' | 'session' | 'locks';
  readonly outcome: 'fine' | 'failed' | 'skipped';
  /** Result as text for the operator, without secrets, query strings, tokens, IP and email addresses. */
  readonly detail: string;
}

/** A real purchase: an ordinary payment that the provider delivered. */
export interface ProvenPurchase {
  readonly paidAtMs: number;
  readonly charged: string;
  /** USDC with six decimals. */
  readonly delivered: string;
  /** Transaction that delivered it, and the token's contract, as shown by the chain. */
  readonly transaction: string;
  readonly token: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly isNativeUsdc: boolean;
  /** Last state reported by the provider's webhooks; null if there is none. */
  readonly webhook: string | null;
}

/** Result of one run of `provider prove`, as stored in its file. */
export interface ProviderEvidence extends ProviderEndpoint {
  readonly provider: ProviderId;
  readonly atMs: number;
  readonly charge: string;
  readonly country: string | null;
  readonly steps: readonly EvidenceStep[];
  /**
   * Time at which the operator confirmed that the page shows the five values, and that the altered copy was refused.
   */
  readonly confirmedAtMs: number | null;
  readonly purchase: ProvenPurchase | null;
}

/** Type of each part of a JSON value, by its path, such as `.quotes[].fee`. */
export type Shape = Readonly<Record<string, string>>;

/** Answers of a provider to harmless calls, as last recorded. */
export interface RecordedShapes extends ProviderEndpoint {
  readonly atMs: number;
  /** Shape of a successful answer, by method and path. */
  readonly calls: Readonly<Record<string, Shape>>;
  /** Difference that the last run found, and the time of the first run in a row that found one. */
  readonly drift: { readonly text: string; readonly sinceMs: number } | null;
}

export interface EvidenceStore {
  /** Newest evidence of a provider; null if there is none, or if its file cannot be read. */
  readEvidence(provider: ProviderId): Promise<ProviderEvidence | null>;
  /** Returns the path of the file. Replaces evidence of the same time. */
  writeEvidence(evidence: ProviderEvidence): Promise<string>;
  readShapes(provider: ProviderId): Promise<RecordedShapes | null>;
  writeShapes(provider: ProviderId, shapes: RecordedShapes): Promise<void>;
}

export interface ProviderProof {
  /** Whether an operator has proved the provider's production endpoint. */
  readonly isProved: boolean;
  readonly text: string;
}

const NOT_PROVED: ProviderProof = { isProved: false, text: 'not proved' };

/** Evidence for the current endpoint; evidence for another one does not count. */
export function proofOf(
  evidence: ProviderEvidence | null,
  endpoint: ProviderEndpoint | undefined,
): ProviderProof {
  if (evidence === null || endpoint === undefined || !isSameEndpoint(evidence, endpoint)) return NOT_PROVED;
  const day = new Date(evidence.atMs).toISOString().slice(0, 10);
  const saying = (text: string) => ({ isProved: false, text: `${text} on ${day}` });
  if (evidence.steps.some(({ outcome }) => outcome === 'failed')) return saying('failed');
  if (evidence.environment === 'simulated') return saying('simulated');
  if (evidence.environment === 'test') return saying('tried in the test environment');
  if (evidence.confirmedAtMs === null) return saying('page not confirmed, tried');
  const purchase = evidence.purchase === null ? '' : ', with a purchase';
  return { isProved: true, text: `proved on ${day}${purchase}` };
}

/** Ignores the ports of simulators, which change with every start. */
export function isSameEndpoint(one: ProviderEndpoint, other: ProviderEndpoint): boolean {
  if (one.environment !== other.environment) return false;
  return one.environment === 'simulated' || one.urls.join(' ') === other.urls.join(' ');
}
