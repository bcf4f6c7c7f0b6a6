import { MULTICALL3 } from '../../src/chain/token-reader.ts';

/** A JSON-RPC call of the local chain. */
type ChainCall = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * Gives a local chain Multicall3 at its usual address, which a public chain has since somebody sent the one signed
 * transaction that creates it there. So releases are checked, and balances are swept, as they are on Polygon.
 */
export async function placeMulticall3(call: ChainCall, address: string = MULTICALL3): Promise<void> {
  // viem has the code that deploys Multicall3, but does not export it.
  const file = new URL('constants/contracts.js', import.meta.resolve('viem'));
  const { multicall3Bytecode } = (await import(file.href)) as { readonly multicall3Bytecode?: unknown };
  const code = await call('eth_call', [{ data: multicall3Bytecode }, 'latest']);
  if (typeof code !== 'string' || code.length < 100) throw new Error('viem has no code of Multicall3');
  await call('anvil_setCode', [address, code]);
}
