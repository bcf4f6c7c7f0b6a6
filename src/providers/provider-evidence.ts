import type { ProviderId } from '../payment/provider-catalog.ts';

/** Where a provider's adapter sends its calls. Only production counts; another base URL is a simulator or a proxy. */
export interface ProviderEndpoint {
  readonly environment: 'production' | 'test' | 'simulated';
  /** Without credentials and query strings. */
  readonly urls: readonly string[];
}

/** One thing that `provider prove` tried. */
export interface EvidenceStep {
  readonly step: 'catalog' | 'quote' | 'session' | 'locks';
  readonly outcome: 'fine' | 'failed' | 'skipped';
  /** The result, as text for the operator; without secrets, query strings, tokens, IP and email addresses. */
  readonly detail: string;
}

/** A real purchase: an ordinary payment that the provider delivered. */
export interface ProvenPurchase {
  readonly paidAtMs: number;
  readonly charged: string;
  /** USDC with six decimals. */
  readonly delivered: string;
  /** The transaction that delivered it, and the contract whose transfer it is, as the chain shows them. */
  readonly transaction: string;
  readonly token: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly isNativeUsdc: boolean;
  /** The last state that the provider's webhooks reported; null where none arrived. */
  readonly webhook: string | null;
}

/** What one run of `provider prove` found, as its file keeps it. */
export interface ProviderEvidence extends ProviderEndpoint {
  readonly provider: ProviderId;
  readonly atMs: number;
  readonly charge: string;
  readonly country: string | null;
  readonly steps: readonly EvidenceStep[];
  /** When the operator confirmed that the page shows the five facts, and that the altered copy was refused. */
  readonly confirmedAtMs: number | null;
  readonly purchase: ProvenPurchase | null;
}

/** The files of evidence. */
export interface EvidenceStore {
  /** The newest of a provider; null without one, or where its file cannot be read. */
  readEvidence(provider: ProviderId): Promise<ProviderEvidence | null>;
  /** Returns the path of the file. Evidence of the same time is replaced. */
  writeEvidence(evidence: ProviderEvidence): Promise<string>;
}

export interface ProviderProof {
  /** Whether an operator has proved the provider's production endpoint. */
  readonly isProved: boolean;
  /** For operators. */
  readonly text: string;
}

const NOT_PROVED: ProviderProof = { isProved: false, text: 'not proved' };

/** What the evidence says of the endpoint that is used now: evidence of another one does not count. */
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

/** The ports of simulators change with every start. */
function isSameEndpoint(one: ProviderEndpoint, other: ProviderEndpoint): boolean {
  if (one.environment !== other.environment) return false;
  return one.environment === 'simulated' || one.urls.join(' ') === other.urls.join(' ');
}
