import { MULTICALL3 } from '../../src/settlement/chain/token-reader.ts';

type ChainCall = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** Places Multicall3 at its well-known address, so that releases are checked and balances swept as on Polygon. */
export async function placeMulticall3(call: ChainCall, address: string = MULTICALL3): Promise<void> {
  // viem contains Multicall3's deployment code, but does not export it.
  const file = new URL('constants/contracts.js', import.meta.resolve('viem'));
  const { multicall3Bytecode } = (await import(file.href)) as { readonly multicall3Bytecode?: unknown };
  const code = await call('eth_call', [{ data: multicall3Bytecode }, 'latest']);
  if (typeof code !== 'string' || code.length < 100) throw new Error('viem has no code of Multicall3');
  await call('anvil_setCode', [address, code]);
}
