import { shop } from '../../shop.js';

// node:sqlite is not there at the edge; the SDK itself would be.
export const runtime = 'nodejs';

/** @param {Request} request */
export async function POST(request) {
  const rawBody = await request.arrayBuffer();
  const status = await shop.receive(rawBody, request.headers.get('x-service-signature'));
  return new Response(null, { status });
}
