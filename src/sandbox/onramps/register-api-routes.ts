import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatCents, formatUnits } from '../../domain/money.ts';
import { assumedDeliveryUnits, type ProviderId, providerCatalogue } from '../../domain/provider-catalogue.ts';
import { openOrder } from './open-order.ts';
import type { Order } from './order.ts';
import type { OrderStore } from './order-store.ts';
import {
  InvalidRequestError,
  type PriceRequest,
  readQuoteRequest,
  readSessionRequest,
} from './read-session-request.ts';

export interface ApiRouteDependencies {
  readonly store: OrderStore;
  readonly provider: ProviderId;
  readonly apiKey: string;
  readonly nowMs: () => number;
  /** Without a trailing slash, of all on-ramps together. */
  readonly baseUrl: () => string;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The smallest charge in cents that leaves something to deliver. */
function lowestChargeCents(provider: ProviderId): number {
  return providerCatalogue[provider].minimumFeeUsdCents + 1;
}

/** What would be delivered, or null after the refusal was sent. */
function quoteOrRefuse(provider: ProviderId, price: PriceRequest, reply: FastifyReply): bigint | null {
  const deliveryUnits = assumedDeliveryUnits(provider, price.usdUnits);
  if (deliveryUnits > 0n) return deliveryUnits;
  const minimum = formatCents(lowestChargeCents(provider));
  void reply.code(422).send({ error: { code: 'below_minimum', minimum_usd: minimum } });
  return null;
}

function createOrder(dependencies: ApiRouteDependencies, body: unknown, reply: FastifyReply): Order | null {
  const session = readSessionRequest(body);
  const quotedUnits = quoteOrRefuse(dependencies.provider, session, reply);
  if (quotedUnits === null) return null;
  const { provider, store, nowMs } = dependencies;
  return openOrder(store, { ...session, provider, quotedUnits }, nowMs());
}

/** The API of one simulated on-ramp; the adapter for hosted sessions in src/providers speaks the other side. */
export function registerApiRoutes(server: FastifyInstance, dependencies: ApiRouteDependencies): void {
  const { provider } = dependencies;
  const expectedKey = sha256(`Bearer ${dependencies.apiKey}`);

  const requireKey = async (request: FastifyRequest, reply: FastifyReply) => {
    if (timingSafeEqual(sha256(request.headers.authorization ?? ''), expectedKey)) return;
    await reply.code(401).send({ error: { code: 'unauthorized' } });
  };
  /** What the request lacks is its sender's defect, told in words. */
  const refuseInvalid = (reply: FastifyReply, error: unknown) => {
    if (!(error instanceof InvalidRequestError)) throw error;
    return reply.code(400).send({ error: { code: 'invalid_request', message: error.message } });
  };

  server.get(`/${provider}/quote`, { preHandler: requireKey }, (request, reply) => {
    try {
      const deliveryUnits = quoteOrRefuse(provider, readQuoteRequest(request.query), reply);
      if (deliveryUnits === null) return reply;
      return reply.send({
        status: 'available',
        delivery_amount: formatUnits(deliveryUnits),
        minimum_usd: formatCents(lowestChargeCents(provider)),
      });
    } catch (error) {
      return refuseInvalid(reply, error);
    }
  });

  server.post(`/${provider}/sessions`, { preHandler: requireKey }, (request, reply) => {
    try {
      const order = createOrder(dependencies, request.body, reply);
      if (order === null) return reply;
      return reply.code(201).send({
        id: order.id,
        url: `${dependencies.baseUrl()}/${provider}/pay/${order.id}`,
        expires_at: new Date(order.expiresAtMs).toISOString(),
        delivery_amount: formatUnits(order.quotedUnits),
      });
    } catch (error) {
      return refuseInvalid(reply, error);
    }
  });
}
