import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { CheckoutPagesContext, ShortLinkRoute } from './context.ts';
import type { DrawPreview } from './draw-preview.ts';
import { setCommonHeaders } from './page-headers.ts';
import { previewDrawing } from './preview-drawing.ts';
import { readCheckoutOfShortCode } from './read-checkout.ts';

/** `GET /s/:shortCode/preview.png`: what link previews show of a checkout. */
export async function showPreview(
  context: CheckoutPagesContext,
  drawPreview: DrawPreview,
  request: FastifyRequest<ShortLinkRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = await readCheckoutOfShortCode(context, request.params.shortCode);
  if (checkout === null) throw new ServiceError('payment_not_found');
  const { png, isPlain } = await drawPreview(previewDrawing(checkout));
  return (
    setCommonHeaders(reply)
      // A plain one is soon asked for again. It belongs to pages of others, who show it.
      .header('cache-control', `public, max-age=${isPlain ? 60 : 3_600}`)
      .header('cross-origin-resource-policy', 'cross-origin')
      .type('image/png')
      .send(png)
  );
}
