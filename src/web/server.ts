import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
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
import { annotate, isTracing, trace } from '../platform/tracing.ts';
import { allowHalfOpen, type Connections, createConnections } from './connections.ts';
import { securityHeaders, sendError, sendNotFound, serviceErrorOf } from './error-reply.ts';
import { createRequestLog, describeError, type Observe, routeOf } from './request-log.ts';
import { createPeerCheck, isApiPath, isHealthCheck } from './require-https.ts';

export interface BaseServerOptions {
  /** Pino logger. If null or absent, nothing is logged. */
  readonly logger?: FastifyBaseLogger | null;
  /** Networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustProxy: readonly string[];
  /** Certificate and key in PEM format; null or absent for plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | null;
  /** Value of Strict-Transport-Security; null or absent if callers may use plain HTTP. */
  readonly hsts?: string | null;
  /** Signal aborted when the server begins to drain. From then on, every response closes its connection. */
  readonly leaving?: AbortSignal;
  readonly observe?: Observe | null;
  readonly limits?: Partial<ServerLimits>;
  /** Sends the page for an unknown path that a browser opens. If absent, browsers also get the JSON error. */
  readonly sendNotFoundPage?: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

const defaultLimits = {
  bodyBytes: 16 * 1024,
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  /** Exceeds the idle timeout of common load balancers, so that they close connections first. */
  keepAliveTimeoutMs: 72_000,
  /** Maximum idle time of a connection, even within a request. */
  stalledMs: 120_000,
  drainTimeoutMs: 10_000,
  pathParameterCharacters: 100,
  connections: 16_000,
};
type ServerLimits = typeof defaultLimits;

/** Returns a function that reads a header sent by a proxy in TRUST_PROXY; the function returns '' for other peers. */
function createProxyHeaders(trustProxy: readonly string[]) {
  const isTrusted = createPeerCheck(trustProxy);
  return ({ headers, socket }: IncomingMessage, name: 'x-request-id' | 'traceparent'): string =>
    trustProxy.length > 0 && isTrusted(socket.remoteAddress ?? '') ? String(headers[name] ?? '') : '';
}

/** Creates a server for the public or admin port. Accepts bodies and HEAD requests only where a route enables them. */
export function createBaseServer(options: BaseServerOptions): FastifyInstance {
  const limits = { ...defaultLimits, ...options.limits };
  // Redacts request data that errors quote, including in the framework's own log lines.
  const logger = options.logger?.child({}, { serializers: { err: describeError } }) ?? null;
  const log = createRequestLog(logger, options.observe ?? null);
  const allowed = createAllowedMethods();
  const { hsts = null } = options;
  const connections = createConnections({ hsts });
  const proxyHeader = createProxyHeaders(options.trustProxy);
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
    // Reuses the parent logger, because a child per request is costly and most requests log nothing.
    childLoggerFactory: (parent) => parent,
    requestIdHeader: false,
    // Reuses a trusted proxy's id, so that one search finds a request in both logs. Generates an id otherwise.
    genReqId: (request: IncomingMessage) =>
      /^[\w.:-]{8,128}$/.exec(proxyHeader(request, 'x-request-id'))?.[0] ?? randomUUID(),
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    bodyLimit: limits.bodyBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: limits.pathParameterCharacters },
    // While closing, still serves requests on open connections, with `Connection: close`.
    return503OnClosing: false,
    clientErrorHandler: connections.refuseUnparsed,
    frameworkErrors: (error, request, reply) => {
      void reply.headers({ ...securityHeaders(hsts), 'x-request-id': request.id });
      void sendError(reply as unknown as FastifyReply, serviceErrorOf(error));
      log.completed(request as unknown as FastifyRequest, reply as unknown as FastifyReply);
    },
  }) as unknown as FastifyInstance;

  server.removeAllContentTypeParsers();
  if (isTracing()) traceRequests(server, proxyHeader);
  addHooks(server, options, log);
  server.addHook('onRoute', (route) => allowed.add(route.url, route.method));
  server.setNotFoundHandler(replyNotFound);
  server.setErrorHandler((thrown, request, reply) => {
    // Sends the same response for an unknown path even if the request has another error.
    if (request.is404) return replyNotFound(request, reply);
    const error = serviceErrorOf(thrown);
    log.failed(request, error);
    return sendError(reply, error);
  });
  drainOnClose(server, limits.drainTimeoutMs);
  return server;
}

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
    // Node would respond without a body if Host is missing. `addHooks` responds in the API's format.
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

/** Normalizes X-Forwarded-For, because some proxies append the port to the address. */
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
  const { leaving, hsts = null } = options;
  const entries = Object.entries(securityHeaders(hsts));
  server.addHook('onRequest', (request, reply, done) => {
    readForwardedAddresses(request.raw.headers);
    for (const [name, value] of entries) reply.header(name, value);
    // Lets the operator find the request in the log.
    reply.header('x-request-id', request.id);
    if (leaving?.aborted) reply.header('connection', 'close');
    // Drops the session cookie, so that HEAD never writes, for example the session's last use.
    if (request.method === 'HEAD') delete request.raw.headers.cookie;
    const problem = hostProblem(request.raw);
    done(problem === null ? undefined : new ServiceError('invalid_request', problem));
  });
  server.addHook('onResponse', (request, reply, done) => {
    log.completed(request, reply);
    done();
  });
}

/** Traces each request except health checks. Continues the trace of a proxy in TRUST_PROXY. */
function traceRequests(server: FastifyInstance, proxyHeader: ReturnType<typeof createProxyHeaders>): void {
  const inService = AsyncLocalStorage.snapshot();
  const inTrace = new WeakMap<FastifyRequest, typeof inService>();
  server.addHook('onRequest', (request, reply, done) => {
    if (isHealthCheck(request)) return done();
    const traceparent = proxyHeader(request.raw, 'traceparent');
    const options = { traceparent, 'http.route': routeOf(request), 'card_checkout.request_id': request.id };
    const serve = async () => {
      inTrace.set(request, AsyncLocalStorage.snapshot());
      done();
      await new Promise((resolve) => reply.raw.once('close', resolve));
      annotate({ 'http.response.status_code': reply.statusCode });
      if (reply.statusCode >= 500) annotate({ 'error.type': `${reply.statusCode}` });
    };
    void inService(() => trace(`${request.method} ${routeOf(request)}`, options, serve));
  });
  // Body events run in the context of the connection, so the trace's context is restored here.
  server.addHook('preValidation', (request, _reply, done) => (inTrace.get(request) ?? inService)(done));
}

/** Returns the problem with the Host header, or null. Counts raw headers, because `headers` merges them. */
function hostProblem({ headers, httpVersion, rawHeaders }: IncomingMessage): string | null {
  if (headers.host === undefined) return httpVersion === '1.1' ? 'The Host header is missing.' : null;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1 ? 'The Host header appears more than once.' : null;
}

/** Drains the server on close: closes connections when they become idle, and the rest after the drain time. */
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
    // Deferred, because the connection becomes idle only after this turn of the event loop.
    if (isDraining) setImmediate(() => server.server.closeIdleConnections());
    done();
  });
}

function isOpenedByPerson({ method, headers }: FastifyRequest, path: string): boolean {
  return method === 'GET' && headers.accept?.includes('text/html') === true && !isApiPath(path);
}

function pathOf(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** Collects methods by path, so that a wrong method gets 405 instead of 404. */
export function createAllowedMethods() {
  const entries = new Map<string, Set<string>>();
  return {
    add(pattern: string, methods: string | readonly string[]): void {
      entries.set(pattern, new Set([...(entries.get(pattern) ?? []), ...[methods].flat()]));
    },
    /** Returns the sorted methods at a path without query. Scans all patterns, because such requests are rare. */
    at(path: string): readonly string[] {
      const segments = path.split('/');
      const found = [...entries].filter(([pattern]) => matches(pattern.split('/'), segments));
      return [...new Set(found.flatMap(([, methods]) => [...methods]))].sort();
    },
  };
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((segment, index) =>
    segment.startsWith(':') ? segments[index] !== '' : segment === segments[index],
  );
}
