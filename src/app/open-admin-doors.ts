import type { FastifyInstance } from 'fastify';
import { createPasswords } from '../accounts/passwords.ts';
import { createKeyedHash } from '../domain/keyed-hash.ts';
import { createSecretBox } from '../domain/secret-box.ts';
import { createDashboardLimits } from '../http/dashboard/limits.ts';
import { registerOperatorConsole } from '../http/operator/routes.ts';
import { createPeerCheck } from '../http/plain-peers.ts';
import { createPublicServer } from '../http/server.ts';
import { rescueToken } from '../payments/rescue-token.ts';
import type { ServiceParts } from './service-parts.ts';

/**
 * The admin server, never on the public port: metrics for the operator's monitoring, and the operator's console where
 * the process serves people.
 */
export function openAdminDoors(parts: ServiceParts): FastifyInstance {
  const { config, log, metrics, role } = parts;
  const server = createPublicServer({
    logger: log,
    trustProxy: config.trustProxy,
    isHttpsOnly: config.adminBaseUrl.startsWith('https:'),
  });
  server.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  if (role !== 'worker') openConsole(server, parts);
  return server;
}

function openConsole(server: FastifyInstance, parts: ServiceParts): void {
  const { config, store, clock, secretKey, world } = parts;
  const isSandbox = parts.sandboxControls !== null;
  registerOperatorConsole(server, {
    ...store,
    isSandbox,
    passwords: createPasswords(),
    secondFactor: {
      box: createSecretBox('second factor', secretKey, config.previousSecretKeys),
      recoveryHash: createKeyedHash('recovery codes', secretKey, config.previousSecretKeys),
    },
    browsers: createSecretBox('known browsers', secretKey, config.previousSecretKeys),
    mailer: parts.mailer,
    callbacks: parts.callbacks,
    directory: parts.directory,
    chain: world.chain,
    relayer: world.relayer,
    rescue: (id, token) => rescueToken({ ...store, relayer: world.relayer, nowMs: clock.nowMs }, id, token),
    limits: createDashboardLimits(clock.monotonicMs),
    nowMs: clock.nowMs,
    baseUrl: config.adminBaseUrl,
    // The sandbox is for one machine, which may reach it by a bridge.
    isTrustedPeer: isSandbox ? () => true : createPeerCheck(config.trustProxy),
  });
}
