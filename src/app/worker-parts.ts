import type { Clock } from '../platform/clock.ts';
import type { RelayContext } from '../settlement/relay/relay-context.ts';
import type { DeliverWebhook } from '../webhooks/callback-guard.ts';
import type { ServiceParts } from './service-parts.ts';

type SharedParts = 'store' | 'external' | 'mailer' | 'log' | 'metrics';

/** What the tasks of a process depend on. */
export interface WorkerParts
  extends Pick<ServiceParts, SharedParts>,
    Pick<ServiceParts['requestContext'], 'tokens' | 'notifier' | 'baseUrl' | 'expiryMs'>,
    Clock {
  readonly deliver: DeliverWebhook;
  /** Ends the pause of other tasks, because this one has made work for them. */
  readonly wake: (...names: string[]) => void;
  readonly withRelayerLease: RelayContext['withRelayerLease'];
}
