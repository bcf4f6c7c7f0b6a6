/** Starts work that lasts as long as the shop. Next.js calls it once per server process. */
export async function register() {
  // Skips builds, and the edge runtime, which lacks node:sqlite.
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return;
  const { shop } = await import('./shop.js');
  void shop.followEvents(new AbortController().signal);
}
