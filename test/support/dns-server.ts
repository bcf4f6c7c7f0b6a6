import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet } from 'dns-packet';

/** What the stub says to one question; records of the other type are left out by the server. */
export interface StubDnsAnswer {
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
  /** The name the addresses are then said to belong to. */
  readonly CNAME?: string;
  /** Default 60. */
  readonly ttlSeconds?: number;
  /** An answer without records and with this error. */
  readonly error?: 'ENOTFOUND' | 'SERVFAIL';
  readonly delayMs?: number;
  readonly silent?: true;
}

export interface StubDnsServer {
  /** `address:port`, as `Resolver.setServers` takes it. */
  readonly server: string;
  /** Every question that arrived, in order. */
  readonly questions: readonly { readonly name: string; readonly type: string }[];
  close(): Promise<void>;
}

const RESPONSE_CODES = { ENOTFOUND: 3, SERVFAIL: 2 } as const;

/**
 * A DNS server on a free UDP port of the loopback interface.
 *
 * @param answer called for each question; `earlier` counts the questions of the same name and type before it
 */
export async function startDnsServer(
  answer: (name: string, type: string, earlier: number) => StubDnsAnswer,
): Promise<StubDnsServer> {
  const socket = createSocket('udp4');
  const questions: { name: string; type: string }[] = [];
  const timers = new Set<NodeJS.Timeout>();

  socket.on('message', (message, peer) => {
    const query = decode(message);
    const question = query.questions?.[0];
    if (question === undefined) return;
    const { name, type } = question;
    const earlier = questions.filter((asked) => asked.name === name && asked.type === type).length;
    questions.push({ name, type });
    const said = answer(name, type, earlier);
    if (said.silent === true) return;
    const response = encode(responseTo(query, name, type, said));
    const timer = setTimeout(() => {
      timers.delete(timer);
      socket.send(response, peer.port, peer.address);
    }, said.delayMs ?? 0);
    timers.add(timer);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');

  return {
    server: `127.0.0.1:${socket.address().port}`,
    questions,
    async close() {
      for (const timer of timers) clearTimeout(timer);
      socket.close();
      await once(socket, 'close');
    },
  };
}

function responseTo(query: Packet, name: string, type: string, said: StubDnsAnswer): Packet {
  const ttl = said.ttlSeconds ?? 60;
  const owner = said.CNAME ?? name;
  const answers: Answer[] = [];
  if (said.CNAME !== undefined) answers.push({ type: 'CNAME', name, ttl, data: said.CNAME });
  if (type === 'A')
    answers.push(...(said.A ?? []).map((data) => ({ type: 'A' as const, name: owner, ttl, data })));
  if (type === 'AAAA')
    answers.push(...(said.AAAA ?? []).map((data) => ({ type: 'AAAA' as const, name: owner, ttl, data })));
  const code = said.error === undefined ? 0 : RESPONSE_CODES[said.error];
  return {
    type: 'response',
    ...(query.id === undefined ? {} : { id: query.id }),
    flags: AUTHORITATIVE_ANSWER | code,
    questions: query.questions ?? [],
    answers: code === 0 ? answers : [],
  };
}
