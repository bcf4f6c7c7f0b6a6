/**
 * What must never stand in a log, wherever it comes from: an error's message may quote a request. Query strings go
 * as a whole, because tokens, e-mail addresses and notes travel in them.
 */
const secrets: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/service_live_[\w-]+/g, 'service_live_[redacted]'],
  [/ipn_[\w-]{8,}/g, 'ipn_[redacted]'],
  [/\?[^\s"'`]+/g, '?[redacted]'],
  [
    /[\w.!#$%&'*+/=?^`{|}~-]{1,64}(?:@|%40)[\w.-]+\/?/gi,
    (found) => {
      if (isPackageScope(found)) return found;
      return found.endsWith('/') ? '[redacted e-mail]/' : '[redacted e-mail]';
    },
  ],
];

/**
 * Whether this is the scope of an npm package, in a path (`/app/node_modules/@scope/`) or quoted (`'@scope/`), and not an
 * e-mail address: it names no user, and its scope has no dot, as the domain of an address has.
 */
function isPackageScope(found: string): boolean {
  return /^(?:['`]|[^@]*(?<![^/])node_modules\/)@[\w-]+\/$/.test(found);
}

/** The patterns look back at most 64 characters, so a long text costs its length; it is cut all the same. */
const MAXIMUM_CHARACTERS = 10_000;

/** The text without keys, tokens, query strings and e-mail addresses. */
export function redact(text: string): string {
  const start = text.length > MAXIMUM_CHARACTERS ? `${text.slice(0, MAXIMUM_CHARACTERS)}…` : text;
  return secrets.reduce(
    // TypeScript knows `replace` with a text and with a function, not with either.
    (rest, [pattern, replacement]) => rest.replace(pattern, replacement as string),
    start,
  );
}

/** An error as it is logged. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly cause?: LoggedError;
}

const MAXIMUM_CAUSES = 5;

/** An error and its causes without secrets: the serializer of `err` in every log line. */
export function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: redact(String(error)) };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: redact(error.message),
    ...(error.stack === undefined ? {} : { stack: redact(error.stack) }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.cause === undefined || depth === MAXIMUM_CAUSES
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
  };
}
