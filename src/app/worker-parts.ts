import type { ChainConfig, Config } from '../config/config.ts';
import type { Clock } from '../platform/clock.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import type { RelayContext } from '../settlement/relay/relay-context.ts';
import type { DeliverWebhook } from '../webhooks/delivery-types.ts';
import type { ServiceParts } from './service-parts.ts';

type SharedParts = 'store' | 'external' | 'mailer' | 'log' | 'metrics';

export interface WorkerParts
  extends Pick<ServiceParts, SharedParts>,
    Pick<ServiceParts['requestContext'], 'tokens' | 'notifier' | 'baseUrl' | 'expiryMs'>,
    Clock {
  readonly config: Pick<Config, 'dataDir' | 'retention'> & {
    readonly chain: Pick<ChainConfig, 'egressProxy'> | null;
  };
  readonly deliver: DeliverWebhook;
  readonly signingSecrets: Pick<SecretBox, 'open'>;
  readonly wake: (...names: string[]) => void;
  readonly withRelayerLease: RelayContext['withRelayerLease'];
}

export interface WorkerTask {
  readonly name: string;
  /** Pause after a run that leaves no further work. */
  readonly intervalMs: number;
  /** Runs one bounded step and resolves to true if there is more to do. A long step ends early on the signal. */
  run(signal: AbortSignal): Promise<boolean | undefined>;
}
