import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes, Span, SpanContext, Tracer } from '@opentelemetry/api';
import packageDescription from '#package' with { type: 'json' };
import { errorTypeOf } from './machine-fault.ts';
import { within } from './outgoing-calls.ts';

// OpenTelemetry traces. Attributes contain only names, hosts, ids and outcomes. They never contain a URL, path,
// parameter, header, body or error message.

interface Scope {
  readonly startSpan: (name: string, attributes: Attributes, parent: SpanContext | null) => Span;
  /** State of the whole trace. A trace that remains idle, without a call to another host, is dropped. */
  readonly trace: { spansLeft: number; isIdle: boolean };
  /** Parent of new spans; null outside a trace. */
  readonly span: Span | null;
}

type TraceOptions = Attributes & { readonly traceparent?: string; readonly isIdle?: boolean };

/** Maximum spans per trace, because a CSV export of a million rows would otherwise record far more. */
const SPANS_PER_TRACE = 500;
/** Timeout for an export of spans with its retries, and for the last exports before the process stops. */
const [EXPORT_TIMEOUT_MS, STOP_TIMEOUT_MS] = [3_000, 4_000];
const STATUS_ERROR = 2;

const scopes = new AsyncLocalStorage<Scope>();

/** Returns whether the caller runs within `run` of `openTracing`. */
export const isTracing = () => scopes.getStore() !== undefined;

/** Runs work as a span of the current trace, if any. The attribute `server.address` means a call to another host. */
export async function span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const outer = scopes.getStore();
  const isOmitted = outer?.trace.isIdle === true && !('server.address' in attributes);
  if (outer?.span == null || isOmitted || outer.trace.spansLeft-- <= 0) return work();
  outer.trace.isIdle = false;
  return runIn({ ...outer, span: outer.startSpan(name, attributes, outer.span.spanContext()) }, work);
}

/** Runs work as a new trace, or as a part of the trace in a valid `traceparent` from the caller. */
export async function trace<T>(
  name: string,
  { traceparent = '', isIdle = false, ...attributes }: TraceOptions,
  work: () => Promise<T>,
): Promise<T> {
  const outer = scopes.getStore();
  if (outer === undefined) return work();
  const own = outer.startSpan(name, attributes, parseTraceparent(traceparent));
  return runIn({ ...outer, trace: { spansLeft: SPANS_PER_TRACE, isIdle }, span: own }, work);
}

async function runIn<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
  return scopes.run(scope, async () => {
    try {
      return await work();
    } catch (error) {
      annotate({ 'error.type': errorTypeOf(error) });
      throw error;
    } finally {
      if (!scope.trace.isIdle) scope.span?.end();
    }
  });
}

/** Adds attributes to the current span. `error.type` marks the span as failed. */
export function annotate(attributes: Attributes): void {
  const own = scopes.getStore()?.span;
  own?.setAttributes(attributes);
  if ('error.type' in attributes) own?.setStatus({ code: STATUS_ERROR });
}

/** Returns the header that lets another service continue the current trace (W3C Trace Context), if there is one. */
export function traceparentHeader(): Readonly<Record<string, string>> {
  const context = scopes.getStore()?.span?.spanContext();
  if (context === undefined) return {};
  return { traceparent: `00-${context.traceId}-${context.spanId}-0${context.traceFlags & 1}` };
}

/** Parses `00-<trace>-<span>-<flags>`; null for other text. Does not check for all-zero ids, which the SDK ignores. */
function parseTraceparent(header: string): SpanContext | null {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, traceFlags: Number(`0x${flags}`) & 1, isRemote: true };
}

/** Wraps an object, so that each method call is recorded as a span with the method's name. */
export function withSpans<T extends object>(methods: T, name: string): T {
  const wrapped = Object.entries(methods).map(([key, value]) => {
    const own = `${name}.${key}`;
    if (typeof value === 'object' && value !== null) return [key, withSpans(value, own)];
    return [key, (...given: unknown[]) => span(own, {}, () => value(...given))];
  });
  return Object.fromEntries(wrapped) as T;
}

/** Loads OpenTelemetry. If packages are missing, throws an error with the command that installs them. */
export async function openTracing(endpoint: string, resource: Attributes, warn: (error: Error) => void) {
  // Imports the packages by their names in package.json, so that neither other code nor the type check requires them.
  const packages = Object.entries(packageDescription.peerDependencies);
  const loading = Promise.all(packages.map(([name]) => import(name)));
  const [api, otlp, resources, sdk] = await loading.catch((cause) => {
    const wayOut = `npm install ${packages.map((each) => each.join('@')).join(' ')}`;
    const problem = 'OTEL_EXPORTER_OTLP_ENDPOINT needs packages that are missing (docs/operating.md#traces)';
    throw new Error(`${problem}: ${wayOut}`, { cause });
  });
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new otlp.OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS });
  const send = exporter.export.bind(exporter);
  let isFailing = false;
  exporter.export = (spans: unknown, done: (result: { error?: Error }) => void) =>
    send(spans, (result: { error?: Error }) => {
      if (result.error !== undefined && !isFailing) warn(result.error);
      isFailing = result.error !== undefined;
      done(result);
    });
  const ofEnvironment = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.TracerProvider({
    resource: resources.resourceFromAttributes(resource).merge(ofEnvironment),
    // Sends spans in the background. Drops new spans while 2,048 spans are queued.
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  const tracer: Tracer = provider.getTracer(packageDescription.name);
  const service: Scope = {
    startSpan(name, attributes, parent) {
      const inbound = 'http.route' in attributes ? api.SpanKind.SERVER : api.SpanKind.INTERNAL;
      const kind = 'server.address' in attributes ? api.SpanKind.CLIENT : inbound;
      const root = api.ROOT_CONTEXT;
      return tracer.startSpan(
        name,
        { kind, attributes },
        parent ? api.trace.setSpanContext(root, parent) : root,
      );
    },
    trace: { spansLeft: 0, isIdle: true },
    span: null,
  };
  return {
    run: <T>(work: () => T): T => scopes.run(service, work),
    stop: () => within(STOP_TIMEOUT_MS, provider.shutdown(), () => new Error('late')).catch(() => {}),
  };
}
