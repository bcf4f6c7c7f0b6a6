import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { EvidenceStore, ProviderEvidence, RecordedShapes } from './provider-evidence.ts';

/** Maximum evidence files of a provider, beyond which older ones are deleted. */
const MAXIMUM_FILES_PER_PROVIDER = 20;

/** Stores evidence as JSON files in the data folder, one per run: `evidence/moonpay-2026-11-23T04-30-00.000Z.json`. */
export function createEvidenceFiles(dataDir: string): EvidenceStore {
  const folder = join(dataDir, 'evidence');

  /** File names, oldest first. */
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
    async readEvidence(provider) {
      const newest = (await list(provider)).at(-1);
      if (newest === undefined) return null;
      return readEvidence(await readFile(join(folder, newest), 'utf8'), provider);
    },
    async writeEvidence(evidence) {
      const time = new Date(evidence.atMs).toISOString().replaceAll(':', '-');
      const file = join(folder, `${evidence.provider}-${time}.json`);
      const { atMs, confirmedAtMs, ...rest } = evidence;
      const content = { at: new Date(atMs).toISOString(), atMs, confirmedAtMs, ...rest };
      await write(file, content);
      for (const old of (await list(evidence.provider)).slice(0, -MAXIMUM_FILES_PER_PROVIDER))
        await rm(join(folder, old), { force: true });
      return file;
    },
    async readShapes(provider) {
      try {
        const content = JSON.parse(await readFile(shapesFile(provider), 'utf8')) as RecordedShapes;
        return Array.isArray(content.urls) && content.calls instanceof Object ? content : null;
      } catch {
        // An unreadable file counts as none; the next run writes it again.
        return null;
      }
    },
    writeShapes: (provider, shapes) => write(shapesFile(provider), shapes),
  };
}

/** Null for any other content, because the operator can edit the file. */
function readEvidence(text: string, provider: ProviderId): ProviderEvidence | null {
  try {
    const content = JSON.parse(text) as Partial<ProviderEvidence> | null;
    const isComplete =
      content?.provider === provider &&
      Number.isSafeInteger(content.atMs) &&
      Array.isArray(content.steps) &&
      content.steps.length > 0 &&
      Array.isArray(content.urls) &&
      content.confirmedAtMs !== undefined &&
      content.purchase !== undefined;
    return isComplete ? (content as ProviderEvidence) : null;
  } catch {
    return null;
  }
}
