export interface CreateTarget {
  readonly url: string;
  readonly apiKey: string;
  readonly address: string;
  readonly callback: string;
}

/** What was answered to creates: deposit addresses by payment id. */
export type Acknowledged = Map<string, string>;

const CALLERS = 32;

/**
 * Creates payments from many callers at once, until `isEnough` says so or nobody answers any more.
 *
 * @param isEnough asked after each answer with what was acknowledged so far
 */
export async function createUnderLoad(
  target: CreateTarget,
  isEnough: (acknowledged: Acknowledged) => boolean,
): Promise<Acknowledged> {
  const acknowledged: Acknowledged = new Map();
  let isOver = false;
  const body = JSON.stringify({ address: target.address, callback: target.callback, amount: '80.00' });
  async function call(): Promise<void> {
    while (!isOver) {
      const answer = await create(target, body);
      if (answer === 'nobody answers') return;
      if (answer !== 'refused') acknowledged.set(answer.payment_id, answer.address_in);
      isOver ||= isEnough(acknowledged);
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call));
  return acknowledged;
}

interface Created {
  readonly payment_id: string;
  readonly address_in: string;
}

async function create(
  { url, apiKey }: CreateTarget,
  body: string,
): Promise<Created | 'refused' | 'nobody answers'> {
  try {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/v1/wallet`, { method: 'POST', headers, body });
    const text = await response.text();
    return response.status === 200 ? (JSON.parse(text) as Created) : 'refused';
  } catch {
    return 'nobody answers';
  }
}

/** The acknowledged payments that are not there, or not as they were answered. */
export async function findLost(target: CreateTarget, acknowledged: Acknowledged): Promise<string[]> {
  const lost: string[] = [];
  const waiting = [...acknowledged];
  async function check(): Promise<void> {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [id, address] = next;
      const response = await fetch(`${target.url}/api/v1/payment-status?payment_id=${id}`, {
        headers: { 'x-api-key': target.apiKey },
      });
      const { address_in: found } = (await response.json()) as { readonly address_in?: string };
      if (response.status !== 200 || found !== address) lost.push(id);
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, check));
  return lost;
}
