import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { ServiceError } from '../domain/errors.ts';
import { operations } from './operations.ts';
import type { OperationArguments, OperationsContext } from './operations-context.ts';

/** The file name of the control socket inside the data folder. */
export const CONTROL_SOCKET = 'control.sock';

const MAXIMUM_REQUEST_BYTES = 64 * 1024;

/** What the socket answers: a result, or what the command line prints on standard error. */
export type ControlReply = { readonly result: unknown } | { readonly error: string };

/**
 * Lets the command line work on a running server: one POST an operation, over a Unix socket that only its owner can
 * open. The data folder's lock makes sure that a socket found here is left over from a process that is gone.
 */
export async function startControlServer(socketFile: string, context: OperationsContext): Promise<Server> {
  rmSync(socketFile, { force: true });
  const server = createServer(async (request, response) => {
    const reply = await answer(context, request);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Without a moment in which others could open it.
    const earlierMask = process.umask(0o177);
    server.listen(socketFile, resolve);
    process.umask(earlierMask);
  });
  chmodSync(socketFile, 0o600);
  return server;
}

async function answer(context: OperationsContext, request: IncomingMessage): Promise<ControlReply> {
  try {
    const { name, args } = JSON.parse(await readBody(request)) as { name: string; args: OperationArguments };
    return { result: await runOperation(context, name, args) };
  } catch (error) {
    return { error: error instanceof ServiceError ? error.message : `unexpected error: ${String(error)}` };
  }
}

/** Runs an operation of the table; an unknown name is an error. */
export async function runOperation(
  context: OperationsContext,
  name: string,
  args: OperationArguments,
): Promise<unknown> {
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation === undefined) throw new ServiceError('not_found', `There is no operation ${name}.`);
  return operation(context, args);
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) {
    body += chunk;
    if (body.length > MAXIMUM_REQUEST_BYTES) throw new ServiceError('payload_too_large');
  }
  return body;
}
