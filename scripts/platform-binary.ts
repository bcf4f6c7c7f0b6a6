/** Finds the binaries that come as one npm package for each platform. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The tools, and on which platforms package.json can bring them. */
export type PlatformTool = 'anvil' | 'biome' | 'forge';

/** Packages by tool and `platform-arch`, and the binary's place inside the package. */
const packages: Record<PlatformTool, Record<string, string>> = {
  anvil: { 'linux-x64': '@foundry-rs/anvil-linux-amd64/bin/anvil' },
  biome: {
    'linux-x64': '@biomejs/cli-linux-x64/biome',
    'linux-arm64': '@biomejs/cli-linux-arm64/biome',
  },
  forge: {
    'linux-x64': '@foundry-rs/forge-linux-amd64/bin/forge',
    'darwin-arm64': '@foundry-rs/forge-darwin-arm64/bin/forge',
  },
};

/** The absolute path of the tool's binary, or undefined where it is not installed or does not exist. */
export function platformBinary(tool: PlatformTool): string | undefined {
  const place = packages[tool][`${process.platform}-${process.arch}`];
  if (place === undefined) return undefined;
  const path = join(import.meta.dirname, '..', 'node_modules', place);
  return existsSync(path) ? path : undefined;
}
