import type { IpnTokens } from '../domain/ipn-token.ts';
import type { DeliverWebhook } from '../domain/ports/callback-guard.ts';
import type { Mailer } from '../domain/ports/mail.ts';
import type { KnownAddresses } from '../payments/known-addresses.ts';
import type { RelayContext } from '../payments/relay/relay-context.ts';
import type { Notifier } from '../payments/send-notifications.ts';
import type { Store } from '../store/store.ts';
import type { ExternalServices } from './external-services.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface WorkerParts {
  readonly store: Store;
  readonly external: ExternalServices;
  readonly known: KnownAddresses;
  readonly tokens: IpnTokens;
  readonly deliver: DeliverWebhook;
  /** Null where no mail server is configured. */
  readonly mailer: Mailer | null;
  readonly notifier: Notifier;
  /** The service's root as customers reach it, without a slash at the end. */
  readonly baseUrl: string;
  readonly nowMs: () => number;
  /** Never goes back and never jumps. */
  readonly monotonicMs: () => number;
  readonly expiryMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Ends the pause of other tasks, because this one has made work for them. */
  readonly wake: (...names: string[]) => void;
  readonly withRelayerLease: RelayContext['withRelayerLease'];
}
