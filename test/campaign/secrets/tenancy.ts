import { createHash, randomUUID } from 'node:crypto';
import { createPaymentIdGenerator } from '../../../src/domain/payment-id.ts';
import type { CreatedPayment } from '../../support/e2e-service.ts';
import { withOtherEnd } from '../../support/random.ts';
import type { RawAnswer } from './raw-exchange.ts';
import type { Merchant, Stage } from './stage.ts';

/** Two merchants, of whom the one asks for what belongs to the other. */
export interface Strangers {
  readonly asking: Merchant;
  readonly owner: Merchant;
}

const unknownId = createPaymentIdGenerator(() => Date.now());

/** Every way to name the other's payment is answered as if there were none. */
export async function checkForeignIds(
  stage: Stage,
  { asking, owner }: Strangers,
  payments: readonly CreatedPayment[],
  own: CreatedPayment,
): Promise<void> {
  const askers: readonly Readonly<Record<string, string>>[] = [
    { 'x-api-key': asking.apiKey },
    { authorization: `Bearer ${asking.apiKey}` },
  ];
  const read = (headers: Readonly<Record<string, string>>, query: string, method = 'GET') =>
    stage.ask({ method, path: `/api/v1/payment-status?${query}`, headers });
  for (const headers of askers) {
    const nobody = await read(headers, `payment_id=${unknownId()}`);
    const expectSame = async (what: string, answer: RawAnswer) =>
      stage.tally.expect(
        'foreignIds',
        answer.status === 404 && answer.comparable === nobody.comparable,
        () => `${what}: ${answer.comparable} instead of ${nobody.comparable}`,
      );
    for (const payment of payments) {
      for (const [what, query] of Object.entries(foreignQueries(payment, owner, own))) {
        await expectSame(what, await read(headers, query));
      }
    }
  }
  await checkMethods(stage, askers[0] ?? {}, payments);
}

function foreignQueries(
  payment: CreatedPayment,
  owner: Merchant,
  own: CreatedPayment,
): Record<string, string> {
  const { payment_id: id, ipn_token: token } = payment;
  const forged = withOtherEnd(token);
  return {
    'its id': `payment_id=${id}`,
    'its id in capitals': `payment_id=${id.toUpperCase()}`,
    'its token': `ipn_token=${token}`,
    'its id and token': `payment_id=${id}&ipn_token=${token}`,
    'its token beside an own id': `payment_id=${own.payment_id}&ipn_token=${token}`,
    'its token with another end': `ipn_token=${forged}`,
    'an own token for its id': `ipn_token=${own.ipn_token.slice(0, 10)}${id.replaceAll('-', '')}${own.ipn_token.slice(42)}`,
    'its short code': `payment_id=${payment['short_code']}`,
    'its deposit address': `payment_id=${payment['address_in']}`,
    'the id of its account': `payment_id=${owner.accountId}`,
    'the id of its key': `payment_id=${owner.keyId}`,
    'its token as an id': `payment_id=${token}`,
    'its id as a token': `ipn_token=${id}`,
  };
}

/** A method that is not served looks at no id at all. */
async function checkMethods(
  stage: Stage,
  headers: Readonly<Record<string, string>>,
  payments: readonly CreatedPayment[],
): Promise<void> {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
    const ask = (id: string) =>
      stage.ask({ method, path: `/api/v1/payment-status?payment_id=${id}`, headers });
    const nobody = await ask(unknownId());
    for (const { payment_id: id } of payments) {
      const answer = await ask(id);
      stage.tally.expect(
        'foreignIds',
        answer.status >= 400 && answer.comparable === nobody.comparable,
        () => `${method}: ${answer.comparable} instead of ${nobody.comparable}`,
      );
    }
  }
}

/** What once was a key, or only belongs to one, opens as little as what never was. */
export async function checkDeadKeys(stage: Stage, owner: Merchant, own: CreatedPayment): Promise<void> {
  const { key_id: revokedId, api_key: revoked } = await stage.command<{ key_id: string; api_key: string }>(
    'key create',
    { account: owner.accountId },
  );
  await stage.command('key revoke', { key: revokedId });
  stage.search.add({ name: 'a revoked API key', kind: 'key', secret: revoked.slice('service_live_'.length) });
  const wrong = `service_live_${'A'.repeat(38)}`;
  const dead: Record<string, string> = {
    'a revoked key': revoked,
    "a key's hash": createHash('sha256').update(owner.apiKey).digest('hex'),
    "a key's id": owner.keyId,
    'an id of an account': owner.accountId,
    'a key without its last letter': owner.apiKey.slice(0, -1),
    'a key in capitals': owner.apiKey.toUpperCase(),
    'a token': own.ipn_token,
    'an id of a payment': own.payment_id,
  };
  const requests = [
    { method: 'GET', path: `/api/v1/payment-status?payment_id=${own.payment_id}` },
    { method: 'GET', path: `/api/v1/payment-status?ipn_token=${own.ipn_token}` },
    { method: 'POST', path: '/api/v1/wallet', body: JSON.stringify(stage.drawFields()) },
    { method: 'GET', path: `/api/v1/wallet?${new URLSearchParams(stage.drawFields())}` },
  ];
  for (const request of requests) {
    for (const headersOf of [
      (key: string) => ({ 'x-api-key': key }),
      (key: string) => ({ authorization: `Bearer ${key}` }),
    ]) {
      const nobody = await stage.ask({ ...request, headers: headersOf(wrong) });
      for (const [what, key] of Object.entries(dead)) {
        const answer = await stage.ask({ ...request, headers: headersOf(key) });
        stage.tally.expect(
          'deadKeys',
          answer.status === 401 && answer.comparable === nobody.comparable,
          () => `${what} at ${request.method} ${request.path.split('?')[0]}: ${answer.comparable}`,
        );
      }
    }
  }
}

/** A key of the same text in two accounts is two keys: each makes a payment of its own, whatever the other asked for. */
export async function checkForeignIdempotency(stage: Stage, { asking, owner }: Strangers): Promise<void> {
  const idempotencyKey = randomUUID();
  const fields = stage.drawFields();
  const request = async (merchant: Merchant, key: string, body: Readonly<Record<string, string>>) => {
    const answer = await stage.ask({
      method: 'POST',
      path: '/api/v1/wallet',
      headers: { 'x-api-key': merchant.apiKey, 'idempotency-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const created = answer.status === 200 ? (JSON.parse(answer.body) as CreatedPayment) : null;
    if (created !== null) stage.watchToken(created.ipn_token);
    return { created, headers: [...answer.headers.keys()].join(), status: answer.status };
  };
  const theirs = await request(owner, idempotencyKey, fields);
  const fresh = await request(asking, randomUUID(), fields);
  const known = [theirs.created?.payment_id, fresh.created?.payment_id];
  const same = await request(asking, idempotencyKey, fields);
  stage.tally.expect(
    'foreignIdempotency',
    same.created !== null && !known.includes(same.created.payment_id) && same.headers === fresh.headers,
    () => `the same request: ${same.status}, headers ${same.headers} instead of ${fresh.headers}`,
  );
  // Had the key been taken over, this would be the conflict that it is to its owner.
  const conflict = await request(owner, idempotencyKey, { ...fields, amount: '81' });
  const third = await stage.addMerchant('Third shop');
  const other = await request(third, idempotencyKey, { ...fields, amount: '81' });
  stage.tally.expect(
    'foreignIdempotency',
    conflict.status === 409 && other.status === 200 && other.headers === fresh.headers,
    () => `another request: ${other.status}, and ${conflict.status} to the owner`,
  );
}
