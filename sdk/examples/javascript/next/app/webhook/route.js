import { shop } from '../../shop.js';

// The edge runtime lacks node:sqlite, although the SDK itself would run there.
export const runtime = 'nodejs';

/** @param {Request} request */
export async function POST(request) {
  const rawBody = await request.arrayBuffer();
  const status = await shop.receive(rawBody, request.headers.get('x-service-signature'));
  return new Response(null, { status });
}
