/** Next.js calls it once for each server process: the place for what lives as long as the shop. */
export async function register() {
  // Neither at the edge, where node:sqlite is missing, nor during a build.
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return;
  const { shop } = await import('./shop.js');
  void shop.followEvents(new AbortController().signal);
}
