import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import type { PostedWebhook } from '../domain/ports/provider.ts';
import type { RateLimiter } from '../domain/ports/rate-limiter.ts';
import { isProviderId, type ProviderId } from '../domain/provider-catalogue.ts';
import {
  type HandleProviderWebhookContext,
  handleProviderWebhook,
  type ProviderWebhookOutcome,
} from '../payments/handle-provider-webhook.ts';
import { countVisitor } from './checkout/page-limits.ts';
import { createFixedWindowLimiter } from './rate-limit.ts';

export interface ProviderWebhooksContext extends HandleProviderWebhookContext {
  /** Counts what one address posts: judging a signature costs little, but not nothing. */
  readonly limiter: RateLimiter;
  readonly nowMs: () => number;
  /** Counts each webhook for the operator. */
  readonly observe: (provider: ProviderId, outcome: ProviderWebhookOutcome) => void;
}

/** What one address may post in a minute; a provider tells of each payment a few times. */
export const PROVIDER_WEBHOOKS_PER_MINUTE = 1_200;
const NOTICE_LIMIT_BYTES = 64 * 1024;
/** Of each provider; anybody can post in its name, and must not be able to fill the log. The metric counts them all. */
const WARNINGS_PER_MINUTE = 6;

interface ProviderWebhookRoute {
  Params: { provider: string };
}

/**
 * `POST /providers/:provider/webhooks`: where the providers' webhooks arrive. 200 for whatever is authentic, so that
 * nobody repeats what we cannot use; 401 for what is not; 502 where it could not be judged, and may be repeated.
 */
export function registerProviderWebhooks(server: FastifyInstance, context: ProviderWebhooksContext): void {
  const warn = createWebhookWarnings();
  server.register((webhooks, _options, done) => {
    webhooks.removeAllContentTypeParsers();
    // Signatures cover bytes, so the bytes are kept as they came.
    webhooks.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: NOTICE_LIMIT_BYTES },
      (_request, body, parsed) => parsed(null, body),
    );
    webhooks.post<ProviderWebhookRoute>(
      '/providers/:provider/webhooks',
      { onRequest: (request) => countVisitor(context.limiter, request), bodyLimit: NOTICE_LIMIT_BYTES },
      async (request, reply) => {
        const { provider } = request.params;
        if (!isProviderId(provider)) throw new ServiceError('not_found');
        const { outcome, reason } = await handleProviderWebhook(
          context,
          provider,
          postedWebhook(request, context.nowMs()),
        );
        context.observe(provider, outcome);
        if (outcome === 'unknown_state')
          request.log.error({ err: reason, provider }, 'a provider told of a state that nobody knows');
        if (outcome === 'unmatched' || outcome === 'refused') warn(request, provider, outcome, reason);
        if (outcome === 'refused') throw new ServiceError('unauthorized', 'The webhook is not authentic.');
        return await reply.send({ received: true });
      },
    );
    done();
  });
}

/** One line without a stack for a webhook that was not used, and how many lines were left out before it. */
function createWebhookWarnings() {
  const limiter = createFixedWindowLimiter(WARNINGS_PER_MINUTE, () => performance.now());
  const leftOut = new Map<ProviderId, number>();
  return (
    { log }: FastifyRequest,
    provider: ProviderId,
    outcome: ProviderWebhookOutcome,
    reason: Error | null,
  ): void => {
    const before = leftOut.get(provider) ?? 0;
    if (limiter.take(provider) > 0) {
      leftOut.set(provider, before + 1);
      return;
    }
    leftOut.delete(provider);
    const fields = { provider, outcome, reason: reason?.message ?? null, leftOut: before };
    log.warn(fields, 'a webhook in the name of a provider was not used');
  };
}

function postedWebhook(request: FastifyRequest, receivedAtMs: number): PostedWebhook {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = Array.isArray(value) ? value[0] : value;
  }
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return { target: request.raw.url ?? '', headers, body, receivedAtMs };
}
