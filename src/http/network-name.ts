const names: Readonly<Record<number, string>> = {
  137: 'Polygon',
  80002: 'Polygon Amoy (test network)',
};

/** What people call a chain that everybody can reach; null for the sandbox's, which is a network of its own. */
export function publicNetworkName(chainId: number): string | null {
  return names[chainId] ?? null;
}

/** What people call a chain, in English. */
export function networkName(chainId: number): string {
  return publicNetworkName(chainId) ?? `the local test network, chain ${chainId}`;
}
