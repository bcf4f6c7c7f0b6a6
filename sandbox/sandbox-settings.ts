import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProviderId, providerIds } from '../src/payment/provider-catalog.ts';

/** Settings that a sandbox keeps across restarts. */
export interface SandboxSettings {
  /** Port of the on-ramps, which is part of the URLs of open sessions; 0 before the first start. */
  readonly onrampPort: number;
  /** Ports of the shop and its receiver, which callbacks of open payments contain; 0 before the first start. */
  readonly shopPorts: { readonly shop: number; readonly receiver: number };
  /** Key of each simulated on-ramp, from which its credentials are derived. */
  readonly providerKeys: Readonly<Record<ProviderId, string>>;
}

function settingsFileOf(directory: string): string {
  return join(directory, 'settings.json');
}

function createSettings(): SandboxSettings {
  const keys = providerIds.map((id) => [id, `sandbox_${id}_${randomBytes(18).toString('base64url')}`]);
  return {
    onrampPort: 0,
    shopPorts: { shop: 0, receiver: 0 },
    providerKeys: Object.fromEntries(keys) as Record<ProviderId, string>,
  };
}

function isSettings(value: unknown): value is SandboxSettings {
  const { onrampPort, shopPorts, providerKeys } = (value ?? {}) as Partial<SandboxSettings>;
  const keys: Partial<Record<ProviderId, unknown>> = providerKeys ?? {};
  const ports = [onrampPort, shopPorts?.shop, shopPorts?.receiver];
  return ports.every(Number.isSafeInteger) && providerIds.every((id) => typeof keys[id] === 'string');
}

/** Reads the settings of an earlier run, or creates new ones. Throws if the file is damaged. */
export async function readSandboxSettings(directory: string): Promise<SandboxSettings> {
  let text: string;
  try {
    text = await readFile(settingsFileOf(directory), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return createSettings();
    throw error;
  }
  const settings: unknown = JSON.parse(text);
  if (!isSettings(settings))
    throw new Error(`${settingsFileOf(directory)} is damaged; delete it to have new keys`);
  return settings;
}

/** Atomically replaces the settings file. */
export async function writeSandboxSettings(directory: string, settings: SandboxSettings): Promise<void> {
  const next = `${settingsFileOf(directory)}.new`;
  await writeFile(next, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  await rename(next, settingsFileOf(directory));
}
