/** Where forge is, which tests the contracts. */
import { platformBinary } from './platform-binary.ts';

/** The absolute path of forge. Throws where npm brought none. */
export function forgePath(): string {
  const path = platformBinary('forge');
  if (path !== undefined) return path;
  throw new Error(
    `forge is not installed for ${process.platform}-${process.arch}: it comes as the npm package ` +
      '@foundry-rs/forge-<platform>. Run "node tools/setup.js"; if tools/platform-tools lists none for this ' +
      'platform, use one that it lists.',
  );
}
