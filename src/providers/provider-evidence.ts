import type { ProviderId } from '../payment/provider-catalog.ts';

/** Target of an adapter's calls. Only production counts as a proof; an operator's base URL is `simulated`. */
export interface ProviderEndpoint {
  readonly environment: 'production' | 'test' | 'simulated';
  /** Called URLs, without credentials and query strings. */
  readonly urls: readonly string[];
}

export interface EvidenceStep {
  readonly step: 'catalog' | 'quote' | 'session' | 'locks';
  readonly outcome: 'fine' | 'failed' | 'skipped';
  /** Result as text for the operator, without secrets, query strings, tokens, IP addresses and email addresses. */
  readonly detail: string;
}

export interface ProvenPurchase {
  readonly paidAtMs: number;
  readonly charged: string;
  /** USDC, with six decimals. */
  readonly delivered: string;
  /** Hash of the transaction that delivered it, read from the chain. */
  readonly transaction: string;
  readonly token: string;
  readonly isNativeUsdc: boolean;
  /** Last progress that the provider's webhooks reported; null if there is none. */
  readonly webhook: string | null;
}

export interface ProviderEvidence extends ProviderEndpoint {
  readonly provider: ProviderId;
  readonly atMs: number;
  readonly charge: string;
  readonly country: string | null;
  readonly steps: readonly EvidenceStep[];
  /** Time at which the operator confirmed that the page showed the five values and the altered copy was refused. */
  readonly confirmedAtMs: number | null;
  readonly purchase: ProvenPurchase | null;
}

/** Type of each part of a JSON value, by path, such as `.quotes[].fee`. */
export type Shape = Readonly<Record<string, string>>;

/** Shapes of a provider's answers to harmless calls, as last recorded. */
export interface RecordedShapes extends ProviderEndpoint {
  readonly atMs: number;
  readonly calls: Readonly<Record<string, Shape>>;
  /** Difference that the last run found, and when the first of the consecutive runs that found one took place. */
  readonly drift: { readonly text: string; readonly sinceMs: number } | null;
}

export interface EvidenceStore {
  /** Newest evidence of a provider; null if there is none, or if the file is unreadable. */
  readEvidence(provider: ProviderId): Promise<ProviderEvidence | null>;
  /** Returns the path of the file. Overwrites evidence with the same time. */
  writeEvidence(evidence: ProviderEvidence): Promise<string>;
  readShapes(provider: ProviderId): Promise<RecordedShapes | null>;
  writeShapes(provider: ProviderId, shapes: RecordedShapes): Promise<void>;
}

export interface ProviderProof {
  /** Whether an operator has proved the account at the provider's production endpoint. */
  readonly isProved: boolean;
  readonly text: string;
}

const NOT_PROVED: ProviderProof = { isProved: false, text: 'not proved' };

/** What the evidence proves for the current endpoint. Evidence for another endpoint does not count. */
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

/** Whether evidence holds for the other endpoint. Ignores URLs of simulators, whose ports change with every start. */
export function isSameEndpoint(one: ProviderEndpoint, other: ProviderEndpoint): boolean {
  if (one.environment !== other.environment) return false;
  return one.environment === 'simulated' || one.urls.join(' ') === other.urls.join(' ');
}
