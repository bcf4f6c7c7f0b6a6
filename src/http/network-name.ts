const names: Readonly<Record<number, string>> = {
  137: 'Polygon',
  80002: 'Polygon Amoy (test network)',
};

/** What people call a chain; the sandbox's is a network of its own. */
export function networkName(chainId: number): string {
  return names[chainId] ?? `the local test network, chain ${chainId}`;
}
