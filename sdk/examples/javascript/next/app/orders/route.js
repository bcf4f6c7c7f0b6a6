import { shop } from '../../shop.js';

/** @param {Request} request */
export async function POST(request) {
  const { amount } = /** @type {{ amount: string }} */ (await request.json());
  return Response.json(await shop.createOrder(String(amount)));
}
