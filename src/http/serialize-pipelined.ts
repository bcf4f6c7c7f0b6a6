import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of requests that wait on one connection behind the one in progress. */
export const MAX_PIPELINED_WAITING = 16;

/** The unanswered requests of one connection. */
interface Pipeline {
  last: ServerResponse;
  waiting: number;
}

/**
 * Wraps request listeners so that the requests of one connection run one after the other. A response may end the
 * connection, and a request behind it is then never answered: it must not have created a payment. A caller that waits
 * for each response before the next request never waits here.
 *
 * Each request waits for its own predecessor, so the work for a request does not grow with the number of waiting
 * requests. The first request beyond `MAX_PIPELINED_WAITING` goes to `refuse`, which has to end the connection.
 */
export function createPipelining(refuse: RequestListener): (serve: RequestListener) => RequestListener {
  const pipelines = new WeakMap<Socket, Pipeline>();

  return (serve) => (request, response) => {
    const { socket } = request;
    // The last response of the connection has already been sent.
    if (socket.writableEnded) return;
    const pipeline = pipelines.get(socket);
    if (pipeline === undefined) {
      pipelines.set(socket, { last: response, waiting: 0 });
      serve(request, response);
    } else if (isDone(pipeline.last)) {
      pipeline.last = response;
      serve(request, response);
    } else if (pipeline.waiting === MAX_PIPELINED_WAITING) {
      refuse(request, response);
    } else {
      const predecessor = pipeline.last;
      pipeline.last = response;
      pipeline.waiting++;
      // Node's own listener runs first: by then it has assigned the connection to this response, or ended it.
      predecessor.once('finish', () => {
        pipeline.waiting--;
        if (!socket.writableEnded) serve(request, response);
      });
    }
  };
}

/** Whether Node has detached a response: only then has it ended a connection that the response closes. */
function isDone(response: ServerResponse): boolean {
  return response.writableEnded && response.socket === null;
}
