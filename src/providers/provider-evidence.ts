import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProviderId } from '../payment/provider-catalog.ts';
import { parseJson } from '../platform/read-json.ts';

/** Target of an adapter's calls. Only production counts as proof. A base URL set by the operator is `simulated`. */
export interface ProviderEndpoint {
  readonly environment: 'production' | 'test' | 'simulated';
  /** Called URLs, without credentials or query strings. */
  readonly urls: readonly string[];
}

export interface EvidenceStep {
  readonly step: 'catalog' | 'quote' | 'session' | 'locks';
  readonly outcome: 'fine' | 'failed' | 'skipped';
  /** Result for the operator, without secrets, query strings, tokens, IP addresses or email addresses. */
  readonly detail: string;
}

export interface ProvenPurchase {
  readonly paidAtMs: number;
  readonly charged: string;
  /** Amount in USDC, with six decimals. */
  readonly delivered: string;
  /** Hash of the delivery's transaction, read from the chain. */
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
  /** Time at which the operator confirmed that the page showed the locked values and refused the altered URL. */
  readonly confirmedAtMs: number | null;
  readonly purchase: ProvenPurchase | null;
}

/** Type of each part of a JSON value, by path, such as `.quotes[].fee`. */
export type Shape = Readonly<Record<string, string>>;

/** Last recorded shapes of a provider's answers to harmless calls. */
export interface RecordedShapes extends ProviderEndpoint {
  readonly atMs: number;
  readonly calls: Readonly<Record<string, Shape>>;
  /** Difference found by the last run. `sinceMs`: time of the first of the consecutive runs that found a difference. */
  readonly drift: { readonly text: string; readonly sinceMs: number } | null;
}

export type EvidenceStore = ReturnType<typeof createEvidenceFiles>;

/** Describes what evidence proves for an endpoint. `isProved` requires a production run confirmed by the operator. */
export function proofOf(evidence: ProviderEvidence | null, endpoint: ProviderEndpoint | undefined) {
  if (evidence === null || endpoint === undefined || !isSameEndpoint(evidence, endpoint))
    return { isProved: false, text: 'not proved' };
  const day = new Date(evidence.atMs).toISOString().slice(0, 10);
  const saying = (text: string) => ({ isProved: false, text: `${text} on ${day}` });
  if (evidence.steps.some(({ outcome }) => outcome === 'failed')) return saying('failed');
  if (evidence.environment === 'simulated') return saying('simulated');
  if (evidence.environment === 'test') return saying('tried in the test environment');
  if (evidence.confirmedAtMs === null) return saying('page not confirmed, tried');
  const purchase = evidence.purchase === null ? '' : ', with a purchase';
  return { isProved: true, text: `proved on ${day}${purchase}` };
}

/** Returns whether evidence for one endpoint is valid for the other. Ignores simulator URLs, whose ports change. */
export function isSameEndpoint(one: ProviderEndpoint, other: ProviderEndpoint): boolean {
  if (one.environment !== other.environment) return false;
  return one.environment === 'simulated' || one.urls.join(' ') === other.urls.join(' ');
}

/** Maximum evidence files per provider; older ones are deleted. */
const MAXIMUM_FILES_PER_PROVIDER = 20;

/** Stores evidence as JSON files in the data folder, one per run: `evidence/moonpay-2026-11-23T04-30-00.000Z.json`. */
export function createEvidenceFiles(dataDir: string) {
  const folder = join(dataDir, 'evidence');

  /** Lists file names, oldest first. */
  async function list(provider: ProviderId): Promise<readonly string[]> {
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.filter((name) => name.startsWith(`${provider}-`) && name.endsWith('.json')).sort();
  }

  async function write(file: string, content: unknown): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  const shapesFile = (provider: ProviderId) => join(folder, `shapes-${provider}.json`);

  return {
    /** Reads a provider's newest evidence. Returns null if there is none, or if the file is invalid. */
    async readEvidence(provider: ProviderId): Promise<ProviderEvidence | null> {
      const newest = (await list(provider)).at(-1);
      if (newest === undefined) return null;
      return readEvidence(await readFile(join(folder, newest), 'utf8'), provider);
    },
    /** Writes evidence and returns the file's path. Overwrites evidence with the same time. */
    async writeEvidence(evidence: ProviderEvidence): Promise<string> {
      const time = new Date(evidence.atMs).toISOString().replaceAll(':', '-');
      const file = join(folder, `${evidence.provider}-${time}.json`);
      const { atMs, confirmedAtMs, ...rest } = evidence;
      const content = { at: new Date(atMs).toISOString(), atMs, confirmedAtMs, ...rest };
      await write(file, content);
      for (const old of (await list(evidence.provider)).slice(0, -MAXIMUM_FILES_PER_PROVIDER))
        await rm(join(folder, old), { force: true });
      return file;
    },
    async readShapes(provider: ProviderId): Promise<RecordedShapes | null> {
      try {
        const content = JSON.parse(await readFile(shapesFile(provider), 'utf8')) as RecordedShapes;
        return Array.isArray(content.urls) && content.calls instanceof Object ? content : null;
      } catch {
        // An unreadable file counts as missing. The next run writes it again.
        return null;
      }
    },
    writeShapes: (provider: ProviderId, shapes: RecordedShapes) => write(shapesFile(provider), shapes),
  };
}

/** Parses evidence. Returns null unless it is complete and names this provider, because operators can edit the file. */
function readEvidence(text: string, provider: ProviderId): ProviderEvidence | null {
  const content = parseJson(text) as Partial<ProviderEvidence> | null | undefined;
  const isComplete =
    content?.provider === provider &&
    Number.isSafeInteger(content.atMs) &&
    Array.isArray(content.steps) &&
    content.steps.length > 0 &&
    Array.isArray(content.urls) &&
    content.confirmedAtMs !== undefined &&
    content.purchase !== undefined;
  return isComplete ? (content as ProviderEvidence) : null;
}
