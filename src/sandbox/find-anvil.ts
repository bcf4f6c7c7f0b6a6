import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The npm packages that bring anvil's binary, by platform and processor. */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
};

/** The absolute path of anvil, the local chain. Throws with what to do where npm brought none. */
export function findAnvil(): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  if (name === undefined) {
    throw new Error(`the sandbox's local chain (anvil) is not available for ${platform}, only for linux-x64`);
  }
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'anvil');
  } catch (cause) {
    throw new Error(`the sandbox's local chain is not installed: run "npm ci" without --omit=optional`, {
      cause,
    });
  }
}
