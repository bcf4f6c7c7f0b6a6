/** Starts following events in the background. Next.js calls this function once per server process. */
export async function register() {
  // Skips builds, and the edge runtime, which lacks node:sqlite.
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return;
  const { shop } = await import('./shop.js');
  void shop.followEvents(new AbortController().signal);
}
