import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { dirname } from 'node:path';
import { json } from 'node:stream/consumers';
import { ServiceError } from '../payment/errors.ts';
import { isListening } from '../platform/outgoing-calls.ts';
import { isProgress, type OnProgress } from '../platform/progress.ts';
import { ChainUnavailableError } from '../settlement/chain/chain.ts';
import { operations } from './operations.ts';
import {
  type Operation,
  type OperationArguments,
  type OperationsContext,
  sandboxOperationNames,
} from './operations-context.ts';

export const CONTROL_SOCKET = 'control.sock';

/** Interval between keep-alive bytes, well below the client's timeout. */
const ALIVE_INTERVAL_MS = 10_000;

/** Media type by which a command requests progress lines. Commands of version 0.1.0 read only the reply. */
const PROGRESS_LINES = 'application/x-ndjson';

type ControlReply = { readonly result: unknown } | { readonly error: string };

/**
 * Serves commands over a Unix socket that only its owner can open, with one POST per operation. Replaces the socket of
 * a killed process. Throws if another service uses this data folder.
 */
export async function startControlServer(socketFile: string, context: OperationsContext): Promise<Server> {
  const dataDir = dirname(socketFile);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (await isListening({ path: socketFile }))
    throw new Error(`${dataDir} is the DATA_DIR of a running service: give each process one of its own`);
  rmSync(socketFile, { force: true });
  const server = createServer(async (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    // Whitespace before the JSON keeps the connection alive during a long operation.
    const alive = setInterval(() => response.write(' '), ALIVE_INTERVAL_MS);
    response.once('close', () => clearInterval(alive));
    const onProgress: OnProgress = (progress) => {
      if (response.destroyed) throw new Error('the command has ended');
      if (request.headers.accept === PROGRESS_LINES) response.write(`${JSON.stringify(progress)}\n`);
    };
    const reply = await answer({ ...context, onProgress }, request);
    clearInterval(alive);
    response.end(reply);
  });
  await once(server.listen(socketFile), 'listening');
  // Until here, the process's umask keeps other users out.
  chmodSync(socketFile, 0o600);
  return server;
}

/** Returns the text of the reply. Must not throw, because no caller would catch the error. */
async function answer(context: OperationsContext, request: IncomingMessage): Promise<string> {
  try {
    const { name, args } = (await json(request)) as { name: string; args: OperationArguments };
    return JSON.stringify({ result: await runOperation(context, name, args) } satisfies ControlReply);
  } catch (error) {
    const text = error instanceof ServiceError ? error.message : `unexpected error: ${String(error)}`;
    return JSON.stringify({ error: text } satisfies ControlReply);
  }
}

export async function runOperation(
  context: OperationsContext,
  name: string,
  args: OperationArguments,
): Promise<unknown> {
  const isOfSandbox =
    name.startsWith('sandbox ') || (sandboxOperationNames as readonly string[]).includes(name);
  const known = isOfSandbox ? requireSandbox(context) : operations;
  const operation = Object.hasOwn(known, name) ? known[name] : undefined;
  if (operation === undefined) throw new ServiceError('not_found', `The operation ${name} does not exist.`);
  try {
    return await operation(context, args);
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    const text = `The chain cannot be read: ${error.message}. ${WHEN_TO_RETRY}`;
    throw new ServiceError('chain_unreachable', text, { cause: error });
  }
}

function requireSandbox(context: OperationsContext): Readonly<Record<string, Operation>> {
  const { sandboxOperations, direct } = context;
  if (sandboxOperations !== null) return sandboxOperations;
  throw new ServiceError(
    'not_found',
    // Only a running server has `direct`. Without sandbox operations, the server runs in live mode.
    direct !== null
      ? 'This works only in the sandbox; this service runs in live mode.'
      : 'This works only while the sandbox runs.',
  );
}

/** Advice for a failed read. After a long stop, nodes have discarded the state of the last scanned block. */
const WHEN_TO_RETRY =
  'Run the command again in a minute, when the endpoints answer and the service has scanned the newest blocks.';

export class NoServerError extends Error {}

/** Maximum silence of the server, which sends keep-alive bytes during an operation. */
const TIMEOUT_MS = 120_000;

export interface Following {
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}

/** Runs an operation in the server. Throws `NoServerError` if none runs, or an error with the server's message. */
export async function callServer(
  socketPath: string,
  name: string,
  args: OperationArguments,
  following: Following = {},
): Promise<unknown> {
  const reply = await post(socketPath, JSON.stringify({ name, args }), following);
  if ('error' in reply) throw new Error(reply.error);
  return reply.result;
}

/** Reads progress lines, skipping unknown kinds, and returns the reply that follows. */
async function post(
  socketPath: string,
  body: string,
  { onProgress, ...options }: Following,
): Promise<ControlReply> {
  const outgoing = request({ socketPath, method: 'POST', path: '/', timeout: TIMEOUT_MS, ...options });
  if (onProgress !== undefined) outgoing.setHeader('accept', PROGRESS_LINES);
  outgoing.on('timeout', () => outgoing.destroy(new Error('the server did not answer in time')));
  // Ignored here, because an error after the first byte also ends the response.
  outgoing.on('error', () => {});
  const answered = once(outgoing.end(body), 'response').catch((error: NodeJS.ErrnoException) => {
    const isAbsent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
    throw isAbsent ? new NoServerError('no server is running', { cause: error }) : error;
  });
  let rest = '';
  const [response] = (await answered) as [IncomingMessage];
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() as string;
    for (const step of lines.map((line) => JSON.parse(line))) if (isProgress(step)) onProgress?.(step);
  }
  return JSON.parse(rest) as ControlReply;
}
