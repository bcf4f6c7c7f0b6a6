import { request } from 'node:http';
import type { ControlReply } from './control-server.ts';
import type { OperationArguments } from './operations-context.ts';

/** Thrown when no server listens on the control socket. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError';
}

/** How long the server may be silent; while an operation runs it gives signs of life. */
const TIMEOUT_MS = 120_000;

/** Runs an operation in the server behind this socket. Throws `NoServerError`, or an Error with the server's text. */
export async function callServer(
  socketPath: string,
  name: string,
  args: OperationArguments,
): Promise<unknown> {
  const reply = await post(socketPath, JSON.stringify({ name, args }));
  if ('error' in reply) throw new Error(reply.error);
  return reply.result;
}

function post(socketPath: string, body: string): Promise<ControlReply> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method: 'POST', path: '/', timeout: TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as ControlReply);
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('the server did not answer in time')));
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isAbsent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      reject(isAbsent ? new NoServerError('no server is running', { cause: error }) : error);
    });
    outgoing.end(body);
  });
}
