/** Called by Next.js once per server process, for work that lasts as long as the shop. */
export async function register() {
  // Skips the edge runtime, which lacks node:sqlite, and builds.
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return;
  const { shop } = await import('./shop.js');
  void shop.followEvents(new AbortController().signal);
}
