/** Token balance of an address in its smallest units, asked of a chain's endpoint. */
export async function readTokenBalance(chainUrl: string, token: string, owner: string): Promise<bigint> {
  const data = `0x70a08231${owner.slice(2).toLowerCase().padStart(64, '0')}`;
  const response = await fetch(chainUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_call',
      params: [{ to: token, data }, 'latest'],
    }),
  });
  const answer = (await response.json()) as { result?: string; error?: unknown };
  if (answer.result === undefined) throw new Error(`balanceOf: ${JSON.stringify(answer.error)}`);
  return BigInt(answer.result);
}
