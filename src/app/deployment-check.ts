import { ChainUnavailableError } from '../settlement/chain/chain.ts';
import type { ChainEndpoint } from '../settlement/chain/endpoint-rotation.ts';
import {
  type Deployment,
  DeploymentMismatchError,
  verifyDeployment,
} from '../settlement/chain/verify-deployment.ts';
import type { SettlementRecord } from '../settlement/settlement-store.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export const VERIFIED_AGAIN_MS = 3_600_000;

interface CheckContext {
  readonly endpoints: readonly ChainEndpoint[];
  /** Settlements of earlier starts, each verified before it was stored. */
  readonly known: readonly SettlementRecord[];
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly metrics: Pick<Metrics, 'deploymentVerified'>;
  /** Pause between two verifications while the deployment is not confirmed. Default 30,000. */
  readonly retryMs?: number;
}

/**
 * Verifies the deployment repeatedly until `stop`, because an endpoint's node can change. Throws
 * `DeploymentMismatchError`. If no endpoint answers, uses an earlier result or throws `ChainUnavailableError`.
 */
export async function startDeploymentCheck(
  { endpoints, known, log, metrics, retryMs = 30_000 }: CheckContext,
  deployment: Deployment,
) {
  const earlier = known.find(
    ({ chainId, factory, token }) =>
      chainId === deployment.chainId && factory === deployment.factory && token === deployment.token,
  );
  let isVerified = true;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function verify() {
    const { problems, ...verified } = await verifyDeployment(endpoints, deployment, earlier !== undefined);
    for (const each of problems) log.error(each);
    if (!isVerified) log.info('RPC endpoints confirm the deposit factory');
    note(true);
    return verified;
  }

  function note(found: boolean): void {
    isVerified = found;
    metrics.deploymentVerified.set(found ? 1 : 0);
    if (isStopped) return;
    timer = setTimeout(() => void verifyAgain(), found ? VERIFIED_AGAIN_MS : retryMs).unref();
  }

  async function verifyAgain(): Promise<void> {
    try {
      await verify();
    } catch (error) {
      // The contract is immutable, so after one success a mismatch means that the endpoints are wrong.
      const isMismatch = error instanceof DeploymentMismatchError;
      if (isMismatch)
        log.error({ err: error }, 'RPC endpoints contradict what was verified of the deposit factory');
      note(isVerified && !isMismatch);
    }
  }

  const verified = await verify().catch((error: unknown) => {
    if (!(error instanceof ChainUnavailableError) || earlier === undefined) throw error;
    const { implementation, factoryCodeHash } = earlier;
    log.warn(
      { err: error },
      'no RPC endpoint answers: the deposit factory, verified by an earlier start, is used',
    );
    note(false);
    return { implementation, factoryCodeHash };
  });
  return {
    verified,
    get isVerified(): boolean {
      return isVerified;
    },
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
