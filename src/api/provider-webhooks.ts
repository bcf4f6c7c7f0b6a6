import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../payment/errors.ts';
import { isProviderId, type ProviderId } from '../payment/provider-catalog.ts';
import {
  type HandleProviderWebhookContext,
  handleProviderWebhook,
  type ProviderWebhookOutcome,
} from '../providers/handle-provider-webhook.ts';
import type { PostedWebhook } from '../providers/provider.ts';
import { sendError } from '../web/error-reply.ts';
import { createFixedWindowLimiter, limitByAddress } from '../web/rate-windows.ts';

export function webhookUrlOf(provider: ProviderId, root: string): string {
  return `${root}/providers/${provider}/webhooks`;
}

export interface ProviderWebhooksContext extends HandleProviderWebhookContext {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly observe: (provider: ProviderId, outcome: ProviderWebhookOutcome) => void;
}

/** Maximum requests per minute from one IP address. Each request costs a signature check. A payment causes a few. */
const PROVIDER_WEBHOOKS_PER_MINUTE = 1_200;
const WEBHOOK_LIMIT_BYTES = 64 * 1024;
/** Maximum log lines per provider and minute, so that forged webhooks do not fill the log. */
const WARNINGS_PER_MINUTE = 6;

/**
 * Registers provider webhooks. Answers 200 to every authentic webhook, even an unusable one, so that the provider does
 * not repeat it. Answers 401 to a forged webhook, and 502 if verification failed, so that the provider sends it again.
 */
export function registerProviderWebhooks(server: FastifyInstance, context: ProviderWebhooksContext): void {
  const limiter = createFixedWindowLimiter(PROVIDER_WEBHOOKS_PER_MINUTE, context.monotonicMs);
  const warnings = createFixedWindowLimiter(WARNINGS_PER_MINUTE, context.monotonicMs);
  server.register((webhooks, _options, done) => {
    webhooks.removeAllContentTypeParsers();
    // Keeps the raw body, because signatures cover bytes.
    webhooks.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: WEBHOOK_LIMIT_BYTES },
      (_request, body, parsed) => parsed(null, body),
    );
    webhooks.post<{ Params: { provider: string } }>(
      '/providers/:provider/webhooks',
      { onRequest: (request) => limitByAddress(limiter, request), bodyLimit: WEBHOOK_LIMIT_BYTES },
      async (request, reply) => {
        const { provider } = request.params;
        if (!isProviderId(provider)) throw new ServiceError('not_found');
        const posted = postedWebhook(request, context.nowMs());
        const { outcome, reason } = await handleProviderWebhook(context, provider, posted);
        context.observe(provider, outcome);
        if (outcome === 'unknown_state')
          request.log.error({ err: reason, provider }, 'a provider sent an unknown state');
        if (outcome === 'noted' && reason !== null)
          request.log.error({ err: reason, provider }, 'a provider delivers another token than USDC');
        const isUnused = outcome === 'unmatched' || outcome === 'refused' || outcome === 'unverified';
        // Logs one line without a stack. The metric also counts webhooks that are not logged.
        if (isUnused && warnings.takeNow(provider) === 0)
          request.log.warn(
            { provider, outcome, reason: reason?.message ?? null },
            'a provider webhook was rejected',
          );
        if (outcome === 'refused')
          throw new ServiceError('unauthorized', 'The webhook signature is invalid.');
        // Answers here, because a thrown error would let strangers' webhooks cause log entries with cause and stack.
        if (outcome === 'unverified') return await sendError(reply, new ServiceError('provider_unavailable'));
        return await reply.send({ received: true });
      },
    );
    done();
  });
}

function postedWebhook(request: FastifyRequest, receivedAtMs: number): PostedWebhook {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = Array.isArray(value) ? value[0] : value;
  }
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return { target: request.raw.url ?? '', headers, body, receivedAtMs };
}
