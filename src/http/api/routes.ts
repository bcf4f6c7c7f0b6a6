import type { FastifyInstance } from 'fastify';
import type { ApiContext } from './api-context.ts';
import { decorateRequests } from './authenticate.ts';
import { acceptJsonBodies } from './json-body.ts';
import { recordKeyUses } from './key-uses.ts';
import { registerStatusRoute } from './status-route.ts';
import { registerWalletRoutes } from './wallet-routes.ts';

/** The API's version is part of every path. */
const API_PREFIX = '/api/v1';

/** Registers the API of the specification, in a scope of its own: its body parser is nobody else's. */
export function registerApi(server: FastifyInstance, context: ApiContext): void {
  void server.register(
    (scope, _options, done) => {
      acceptJsonBodies(scope);
      decorateRequests(scope);
      const { accounts, create } = context;
      const noteKeyUse = recordKeyUses(scope, { accounts, nowMs: create.nowMs });
      registerWalletRoutes(scope, { ...context, noteKeyUse });
      registerStatusRoute(scope, { ...context, noteKeyUse });
      done();
    },
    { prefix: API_PREFIX },
  );
}
