/** Where the contract tools are: forge, which tests the contracts, and anvil, the local chain. */
import { type PlatformTool, platformBinary } from './platform-binary.ts';

/** The absolute path of forge. Throws where npm brought none. */
export function forgePath(): string {
  return requiredPath('forge');
}

/** The absolute path of anvil. Throws where npm brought none. */
export function anvilPath(): string {
  return requiredPath('anvil');
}

function requiredPath(tool: PlatformTool): string {
  const path = platformBinary(tool);
  if (path !== undefined) return path;
  throw new Error(
    `${tool} is not installed for ${process.platform}-${process.arch}: it comes as an optional npm package ` +
      `@foundry-rs/${tool}-<platform>. Run "npm ci" without --omit=optional; if package.json lists none for this ` +
      'platform, use one that it lists.',
  );
}
