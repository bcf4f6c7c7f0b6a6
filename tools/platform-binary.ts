/** Finds the binaries that come as one npm package for each platform. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import packages from './platform-tools/binaries.json' with { type: 'json' };

/** The tools that platform-tools/binaries.json lists: by `platform-arch`, the binary's place in node_modules. */
export type PlatformTool = keyof typeof packages;

/** The absolute path of the tool's binary, or undefined where it is not installed or does not exist. */
export function platformBinary(tool: PlatformTool): string | undefined {
  const places: Record<string, string> = packages[tool];
  const place = places[`${process.platform}-${process.arch}`];
  if (place === undefined) return undefined;
  const path = join(import.meta.dirname, '..', 'node_modules', place);
  return existsSync(path) ? path : undefined;
}
