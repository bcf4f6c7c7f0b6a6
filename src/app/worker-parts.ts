import type { Clock } from '../platform/clock.ts';
import type { RelayContext } from '../settlement/relay/relay-context.ts';
import type { DeliverWebhook } from '../webhooks/callback-guard.ts';
import type { ServiceParts } from './service-parts.ts';

type SharedParts = 'store' | 'external' | 'mailer' | 'log' | 'metrics';

/** Dependencies of a process's tasks. */
export interface WorkerParts
  extends Pick<ServiceParts, SharedParts>,
    Pick<ServiceParts['requestContext'], 'tokens' | 'notifier' | 'baseUrl' | 'expiryMs'>,
    Clock {
  readonly deliver: DeliverWebhook;
  /** Ends the pause of other tasks that now have work. */
  readonly wake: (...names: string[]) => void;
  readonly withRelayerLease: RelayContext['withRelayerLease'];
}
