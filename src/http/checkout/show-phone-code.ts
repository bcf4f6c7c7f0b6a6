import type { FastifyReply, FastifyRequest } from 'fastify';
import { encode } from 'uqr';
import { ServiceError } from '../../domain/errors.ts';
import { isPaymentId } from '../../domain/payment-id.ts';
import { html } from '../design/html.ts';
import { darkRuns } from '../design/qr-code.ts';
import type { CheckoutPagesContext, PaymentRoute } from './context.ts';
import { setCommonHeaders } from './page-headers.ts';

/** Light modules around the code, without which scanners do not find it. */
const QUIET_MODULES = 4;

/**
 * `GET /pay/:paymentId/qr.svg`: the checkout's address as a QR code. An answer of its own, because drawing it takes
 * longer than the rest of the page together, and few look at it. It says what whoever asks knows, so nothing is read.
 */
export async function showPhoneCode(
  { baseUrl }: Pick<CheckoutPagesContext, 'baseUrl'>,
  request: FastifyRequest<PaymentRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { paymentId } = request.params;
  if (!isPaymentId(paymentId)) throw new ServiceError('payment_not_found');
  return sendPhoneCode(reply, `${baseUrl}/pay/${paymentId}`);
}

/** Answers with an address as a QR code. */
export function sendPhoneCode(reply: FastifyReply, address: string): FastifyReply {
  const { size, data } = encode(address, { ecc: 'M', border: QUIET_MODULES });
  const path = data
    .flatMap((row, y) => darkRuns(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`))
    .join('');
  const drawing = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path}"/></svg>`;
  return setCommonHeaders(reply)
    .header('cache-control', 'private, max-age=86400')
    .type('image/svg+xml')
    .send(drawing.toString());
}
