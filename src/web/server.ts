import { randomBytes } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { ServiceError } from '../payment/errors.ts';
import { peerAddress } from '../platform/public-address.ts';
import { allowHalfOpen, type Connections, createConnections } from './connections.ts';
import { securityHeaders, sendError, sendNotFound, serviceErrorOf } from './error-reply.ts';
import { createRequestLog, describeError, type Observe } from './request-log.ts';
import { isApiPath } from './require-https.ts';

/** Options of a server, with safe defaults. */
export interface BaseServerOptions {
  /** A pino logger; null to log nothing. */
  readonly logger?: FastifyBaseLogger | null;
  /** Networks of trusted proxies, whose X-Forwarded-For counts. */
  readonly trustProxy: readonly string[];
  /** Certificate and key (PEM); without them the server uses plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | null;
  /** Whether callers use only HTTPS, so that responses may set Strict-Transport-Security. */
  readonly isHttpsOnly?: boolean;
  /**
   * Whether the server is draining: every response then ends its connection, so that none is cut off with a request on
   * it.
   */
  readonly isLeaving?: () => boolean;
  /** Called with every answered request, for metrics. */
  readonly observe?: Observe | null;
  readonly limits?: Partial<ServerLimits>;
  /** Page for an unknown path opened in a browser; a data response without one. */
  readonly sendNotFoundPage?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

/** Bounds on memory and time per caller. */
const defaultLimits = {
  bodyBytes: 16 * 1024,
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  /** Exceeds the idle time of common load balancers, so that the balancer closes first. */
  keepAliveTimeoutMs: 72_000,
  /** Maximum idle time of a connection, also within a request. */
  stalledMs: 120_000,
  /** Maximum time for requests in progress when the server closes. */
  drainTimeoutMs: 10_000,
  pathParameterCharacters: 100,
  /** Maximum open connections; further ones are closed immediately. */
  connections: 16_000,
};
type ServerLimits = typeof defaultLimits;

/**
 * A server without routes, for the public and the admin port; each part registers its own. Every error has the API's
 * shape. Nothing is coerced, parsed or served unless a route requests it.
 */
export function createBaseServer(options: BaseServerOptions): FastifyInstance {
  const limits = { ...defaultLimits, ...options.limits };
  // Keeps quotes of a request out of errors, also in the framework's lines.
  const logger = options.logger == null ? null : withoutChildren(options.logger);
  const log = createRequestLog(logger, options.observe ?? null);
  const allowed = createAllowedMethods();
  const { isHttpsOnly = false } = options;
  const connections = createConnections({ isHttpsOnly });
  const { sendNotFoundPage } = options;
  const replyNotFound = (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request);
    const methods = allowed.at(path);
    return sendNotFoundPage !== undefined && methods.length === 0 && isOpenedByPerson(request, path)
      ? sendNotFoundPage(request, reply)
      : sendNotFound(methods, reply);
  };

  const server = fastify({
    serverFactory: (serve: RequestListener) => createHttpServer(options, limits, connections, serve),
    ...(logger === null ? { logger: false } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    genReqId: createRequestIdGenerator(),
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    bodyLimit: limits.bodyBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: limits.pathParameterCharacters },
    // Serves requests in progress at close, with `Connection: close`.
    return503OnClosing: false,
    clientErrorHandler: connections.refuseUnparsed,
    frameworkErrors: (error, request, reply) => {
      void reply.headers({ ...securityHeaders(isHttpsOnly), 'x-request-id': request.id });
      void sendError(reply as unknown as FastifyReply, serviceErrorOf(error));
      log.completed(request as unknown as FastifyRequest, reply as unknown as FastifyReply);
    },
  }) as unknown as FastifyInstance;

  server.removeAllContentTypeParsers();
  addHooks(server, options, log);
  server.addHook('onRoute', (route) => allowed.add(route.url, route.method));
  server.setNotFoundHandler(replyNotFound);
  server.setErrorHandler((thrown, request, reply) => {
    // An unknown path is a 404, whatever else is wrong.
    if (request.is404) return replyNotFound(request, reply);
    const error = serviceErrorOf(thrown);
    log.failed(request, error);
    return sendError(reply, error);
  });
  drainOnClose(server, limits.drainTimeoutMs);
  return server;
}

/** Logger that is its own child, because a child for each request costs more than most requests log. */
function withoutChildren(parent: FastifyBaseLogger): FastifyBaseLogger {
  const logger = parent.child({}, { serializers: { err: describeError } });
  return Object.assign(logger, { child: () => logger });
}

/** Node's server below the framework: settings of connections, not of single requests. */
function createHttpServer(
  options: BaseServerOptions,
  limits: ServerLimits,
  connections: Connections,
  serve: RequestListener,
): Server {
  const { tls = null } = options;
  const http: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
    // Node would respond without a body to a missing Host; `addHooks` responds in our shape.
    requireHostHeader: false,
  };
  const server =
    tls === null
      ? createServer(http)
      : createTlsServer({
          ...http,
          ...tls,
          minVersion: 'TLSv1.2',
          ALPNProtocols: ['http/1.1'],
          handshakeTimeout: 10_000,
        });
  server.on('request', connections.serialize(serve));
  server.on('checkExpectation', connections.serialize(connections.answerUnknownExpectation));
  server.on('connect', connections.refuseTunnel);
  server.maxConnections = limits.connections;
  server.timeout = limits.stalledMs;
  allowHalfOpen(server);
  return server;
}

const MAXIMUM_PROXIES = 20;

/**
 * Normalizes X-Forwarded-For before the framework looks for the last untrusted address: some proxies add the port
 * (`192.0.2.1:61598`), which would make no address known or trusted.
 */
function readForwardedAddresses(headers: IncomingMessage['headers']): void {
  const forwarded = headers['x-forwarded-for'];
  if (forwarded === undefined) return;
  headers['x-forwarded-for'] = String(forwarded)
    .split(',')
    .filter((text) => text.trim() !== '')
    .slice(-MAXIMUM_PROXIES)
    .map((text) => peerAddress(text) ?? 'unknown')
    .join(', ');
}

function addHooks(
  server: FastifyInstance,
  options: BaseServerOptions,
  log: ReturnType<typeof createRequestLog>,
): void {
  const { isLeaving = () => false, isHttpsOnly = false } = options;
  const entries = Object.entries(securityHeaders(isHttpsOnly));
  server.addHook('onRequest', (request, reply, done) => {
    readForwardedAddresses(request.raw.headers);
    for (const [name, value] of entries) reply.header(name, value);
    // Identifies the request for the operator; the log has the same id.
    reply.header('x-request-id', request.id);
    if (isLeaving()) reply.header('connection', 'close');
    // Drops the session, so that HEAD writes nothing: neither its last use nor the account that its operator viewed.
    if (request.method === 'HEAD') delete request.raw.headers.cookie;
    const problem = hostProblem(request.raw);
    done(problem === null ? undefined : new ServiceError('invalid_request', problem));
  });
  server.addHook('onResponse', (request, reply, done) => {
    log.completed(request, reply);
    done();
  });
}

/** Error in the Host of a request; null for a valid one. Node keeps the first of several in `headers`. */
function hostProblem({ headers, httpVersion, rawHeaders }: IncomingMessage): string | null {
  if (headers.host === undefined) return httpVersion === '1.1' ? 'The Host header is missing.' : null;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1 ? 'The Host header appears more than once.' : null;
}

/** Waits for requests in progress on close. Closes idle connections immediately, the rest after the drain time. */
function drainOnClose(server: FastifyInstance, drainTimeoutMs: number): void {
  let isDraining = false;
  server.addHook('preClose', (done) => {
    isDraining = true;
    const timer = setTimeout(() => server.server.closeAllConnections(), drainTimeoutMs);
    server.server.once('close', () => clearTimeout(timer));
    timer.unref();
    done();
  });
  server.addHook('onResponse', (_request, _reply, done) => {
    // Deferred: the connection counts as idle only after this turn of the event loop.
    if (isDraining) setImmediate(() => server.server.closeIdleConnections());
    done();
  });
}

/** Request ids, unique across restarts and never taken from a request. */
function createRequestIdGenerator(): () => string {
  const start = randomBytes(6).toString('hex');
  let requests = 0;
  return () => `${start}-${(++requests).toString(36)}`;
}

/** Whether a browser opens the path as a page. */
function isOpenedByPerson({ method, headers }: FastifyRequest, path: string): boolean {
  return method === 'GET' && headers.accept?.includes('text/html') === true && !isApiPath(path);
}

function pathOf(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

interface Entry {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

/** Methods by path, so that a wrong method is 405 instead of 404. */
export function createAllowedMethods() {
  const entries = new Map<string, Entry>();
  return {
    /** Records a route by its pattern (`/pay/:id`). */
    add(pattern: string, methods: string | readonly string[]): void {
      const entry = entries.get(pattern) ?? { segments: pattern.split('/'), methods: new Set() };
      for (const method of [methods].flat()) entry.methods.add(method);
      entries.set(pattern, entry);
    },
    /**
     * Sorted methods at a path (without query); empty if there is none. Scans all patterns, which is fast enough for
     * requests that matched no route.
     */
    at(path: string): readonly string[] {
      const segments = path.split('/');
      const found = [...entries.values()].filter((entry) => matches(entry.segments, segments));
      return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
    },
  };
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((segment, index) =>
    segment.startsWith(':') ? segments[index] !== '' : segment === segments[index],
  );
}
