import { type Agent, type MessageEvent, WebSocket } from 'undici';
import type { EgressProxy } from '../../platform/egress-proxy.ts';
import { createOutgoingAgent } from '../../platform/outgoing-calls.ts';
import type { LatestBlock } from './chain.ts';
import { readAnnouncement } from './node-answers.ts';

export type HeadSubscription = ReturnType<typeof subscribeToHeads>;

export interface HeadSubscriptionOptions {
  /** ws or wss. */
  readonly urls: readonly string[];
  /** Called when an endpoint announces a block, at most once per `MINIMUM_INTERVAL_MS`. */
  readonly onHead: (block: LatestBlock) => void;
  /** First pause before reconnecting, doubled after each further failure. Default 1,000. */
  readonly firstPauseMs?: number;
  /** Time without a block after which the connection is replaced. Default 30,000. */
  readonly silenceMs?: number;
  readonly proxy?: EgressProxy | null;
}

/** Enough for a block header, which takes about two kilobytes. */
const MAXIMUM_MESSAGE_BYTES = 64 * 1024;

/** Minimum time between announcements, to bound the work they cause. Blocks come every 1.5 to 2 seconds. */
const MINIMUM_INTERVAL_MS = 500;

const MAXIMUM_PAUSE_MS = 60_000;

/** Subscribes to new blocks at each endpoint, and reconnects. An announcement only identifies the block to request. */
export function subscribeToHeads(options: HeadSubscriptionOptions) {
  const agent = createOutgoingAgent({
    webSocket: { maxPayloadSize: MAXIMUM_MESSAGE_BYTES },
    proxy: options.proxy ?? null,
  });
  let lastHeadAtMs = Number.NEGATIVE_INFINITY;
  function announce(block: LatestBlock): void {
    const nowMs = performance.now();
    if (nowMs - lastHeadAtMs < MINIMUM_INTERVAL_MS) return;
    lastHeadAtMs = nowMs;
    options.onHead(block);
  }
  const connections = options.urls.map((url) => keepConnected(url, agent, announce, options));
  return {
    async stop(): Promise<void> {
      for (const connection of connections) connection.stop();
      await agent.destroy();
    },
  };
}

function keepConnected(
  url: string,
  dispatcher: Agent,
  announce: (block: LatestBlock) => void,
  { firstPauseMs = 1_000, silenceMs = 30_000 }: HeadSubscriptionOptions,
) {
  let pauseMs = firstPauseMs;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let socket: WebSocket | null = null;

  function connect(): void {
    const opened = new WebSocket(url, { dispatcher });
    socket = opened;
    let isOver = false;

    function end(): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      opened.close();
      if (isStopped) return;
      timer = setTimeout(connect, pauseMs);
      pauseMs = Math.min(pauseMs * 2, MAXIMUM_PAUSE_MS);
    }

    function expectHead(): void {
      clearTimeout(timer);
      timer = setTimeout(end, silenceMs);
    }

    expectHead();
    opened.addEventListener('open', () => {
      const subscription = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] };
      opened.send(JSON.stringify(subscription));
    });
    opened.addEventListener('message', ({ data }: MessageEvent) => {
      const block = isOver || typeof data !== 'string' ? null : readAnnouncement(data);
      if (block === null) return;
      pauseMs = firstPauseMs;
      expectHead();
      announce(block);
    });
    opened.addEventListener('error', end);
    opened.addEventListener('close', end);
  }

  connect();
  return {
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
      socket?.close();
    },
  };
}
