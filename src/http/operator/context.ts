import type { CallbackGuard } from '../../domain/ports/callback-guard.ts';
import type { AreaContext, AreaRoutes } from '../dashboard/context.ts';

/** What the console's pages need. A page that needs more adds it here. */
export interface OperatorContext extends AreaContext {
  readonly callbacks: CallbackGuard;
  /** Whether who is at this address may speak plain HTTP: a password in clear text is as good as lost. */
  readonly isTrustedPeer: (address: string) => boolean;
}

/** Where pages of the console are registered (`operator-page.ts` says how). */
export interface OperatorRoutes extends AreaRoutes {
  readonly context: OperatorContext;
}
