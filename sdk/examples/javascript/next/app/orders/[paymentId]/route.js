import { shop } from '../../../shop.js';

/**
 * @param {Request} _request
 * @param {{ params: Promise<{ paymentId: string }> }} context
 */
export async function GET(_request, { params }) {
  const { paymentId } = await params;
  return Response.json({ fulfilments: shop.countFulfilments(paymentId) });
}
