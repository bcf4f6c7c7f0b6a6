import { describe, expect, it } from 'vitest';
import { hashApiKey } from '../../src/accounts/api-key.ts';
import type { OperationArguments } from '../../src/cli/operations-context.ts';
import { ServiceError } from '../../src/payment/errors.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { createChainReader } from '../../src/settlement/chain/create-chain-reader.ts';
import { closeChainEndpoints, createChainEndpoints } from '../../src/settlement/chain/endpoint-rotation.ts';
import { createBalanceSweep } from '../../src/settlement/chain/token-reader.ts';
import {
  DAY_MS,
  failedResult,
  givePayment,
  givePayments,
  NOW_MS,
  newSession,
  pay,
} from '../store/fixtures.ts';
import { newEntry } from '../store/people.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { ADDRESS, sandboxThat, type TestOperations, useOperations } from '../support/operations.ts';
import { onePixel } from '../support/pictures.ts';
import { giveRefund, newRefund } from '../support/refunds.ts';

type Json = Record<string, unknown>;

let { store, context, run, giveAccount } = {} as TestOperations;
useOperations((operations) => ({ store, context, run, giveAccount } = operations));

/** Makes the store know the chain up to now, without which nobody can say that nothing has arrived. */
async function watchTheChain() {
  const block = { number: 1, hash: '0x1', timestampMs: NOW_MS };
  await store.observations.startCursor(block);
  return block;
}

describe('accounts', () => {
  it('are created with all features and providers and 2.5 percent, and listed', async () => {
    const plain = await giveAccount(' Shop ');
    const { account_id } = await run('account create', {
      name: 'Other',
      email: 'a@b.example',
      'fee-percent': '10',
      wallet: ADDRESS.toLowerCase(),
    });
    const unset = `support_link failure_link return_link terms_link brand_color logo default_callback pinned_provider
      email_retention_days tolerance_percent max_provider_fee_percent`;
    const common = {
      ...Object.fromEntries(unset.split(/\s+/).map((name) => [name, null])),
      features: ['card_checkout', 'fee_pass_through'],
      providers: 'all',
      suspended: false,
      time_zone: 'UTC',
      base_currency: 'USD',
      excluded_providers: [],
      return_hosts: [],
      wallet_locked: false,
      direct_cent_tolerance: false,
      trouble_mails: true,
      created_at: new Date(NOW_MS).toISOString(),
    };
    const listed = await run<Json[]>('account list');
    expect(listed).toHaveLength(2);
    expect(listed).toEqual(
      expect.arrayContaining([
        { account_id: plain, name: 'Shop', email: null, fee_percent: 2.5, wallet: null, ...common },
        { account_id, name: 'Other', email: 'a@b.example', fee_percent: 10, wallet: ADDRESS, ...common },
      ]),
    );
  });

  it.each<[OperationArguments, RegExp]>([
    [{}, /^name is missing/],
    [{ name: '  ' }, /^name must not be empty/],
    [{ email: 'a' }, /^name is missing; email must be an email address$/],
    [{ name: 'x'.repeat(101) }, /^name must be one line of at most 100/],
    [{ name: 'x', 'fee-percent': '10.01' }, /^fee-percent must be from 0 to 10/],
    [
      { name: 'x', wallet: `0x${'dead'.padStart(40, '0')}` },
      /^wallet is an address without an owner.*--confirm-wallet$/,
    ],
  ])('%j creates none', async (args, problem) => {
    await expect(run('account create', args)).rejects.toThrow(problem);
    expect(await run('account list')).toEqual([]);
  });

  it('are changed field by field, and the rest stays', async () => {
    const account = await giveAccount();
    const before = await run('account update', { account });
    expect(await run('account update', { account, 'fee-percent': '0', suspend: true })).toEqual({
      ...before,
      fee_percent: 0,
      suspended: true,
    });
    expect(
      await run('account update', {
        account,
        resume: true,
        providers: 'wert,moonpay',
        disable: 'card_checkout',
      }),
    ).toEqual({ ...before, fee_percent: 0, providers: ['wert', 'moonpay'], features: ['fee_pass_through'] });
    expect(
      await run('account update', {
        account,
        providers: 'all',
        enable: 'card_checkout',
        'fee-percent': '2.5',
      }),
    ).toEqual(before);
  });

  it('are in the audit log with what was and what is, once created and once changed', async () => {
    const account = await giveAccount('Tea');
    await run('account update', { account });
    await run('account update', { account, 'fee-percent': '1.5', suspend: true });
    expect(await store.audit.listEntries(account, null, 10)).toMatchObject([
      {
        action: 'account.changed',
        actor: 'operator',
        target: 'fee from 2.5 % to 1.5 %; suspended from off to on',
      },
      { action: 'account.created', actor: 'operator', target: 'Tea' },
    ]);
  });

  it('show a profile that is set field by field and taken away with empty text', async () => {
    const account = await giveAccount();
    const before = await run('account update', { account });
    const changed = await run('account update', {
      account,
      name: ' Tea & Co ',
      wallet: ADDRESS,
      'lock-wallet': true,
      'time-zone': 'europe/berlin',
      'base-currency': 'EUR',
      'support-link': 'help@shop.example',
      'return-link': 'https://shop.example/thanks',
      'default-callback': 'https://shop.example/hook',
      logo: onePixel.toString('base64'),
    });
    expect(changed).toEqual({
      ...before,
      name: 'Tea & Co',
      wallet: ADDRESS,
      wallet_locked: true,
      time_zone: 'Europe/Berlin',
      base_currency: 'EUR',
      support_link: 'mailto:help@shop.example',
      failure_link: null,
      return_link: 'https://shop.example/thanks',
      default_callback: 'https://shop.example/hook',
      logo: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const taken = {
      'support-link': '',
      'return-link': '',
      'default-callback': '',
      logo: '',
      'time-zone': '',
      'base-currency': 'USD',
    };
    expect(await run('account update', { account, ...taken, 'unlock-wallet': true })).toEqual({
      ...before,
      name: 'Tea & Co',
      wallet: ADDRESS,
    });
  });
});

describe('keys', () => {
  it('are shown once, listed masked, and refused once revoked', async () => {
    const account = await giveAccount();
    const { key_id, api_key } = await run<{ key_id: string; api_key: string }>('key create', {
      account,
      name: 'web',
    });
    expect((await store.accounts.findActiveKey(hashApiKey(api_key)))?.account.id).toBe(account);
    const listed = {
      key_id,
      account_id: account,
      name: 'web',
      key: `service_live_…${api_key.slice(-4)}`,
      created_at: new Date(NOW_MS).toISOString(),
      scopes: 'create read cancel refund',
      last_used_at: null,
      revoked_at: null,
    };
    expect(await run('key list', { account })).toEqual([listed]);
    const revoked = { ...listed, revoked_at: new Date(NOW_MS).toISOString() };
    expect(await run('key revoke', { key: key_id })).toEqual(revoked);
    expect(await store.accounts.findActiveKey(hashApiKey(api_key))).toBeNull();
    Object.assign(context, { nowMs: () => NOW_MS + 1 });
    expect(await run('key revoke', { key: key_id })).toEqual(revoked);
    expect(await run('key list', { account })).toEqual([revoked]);
  });

  it('are made with the scopes that are named, and not with all of them for an empty list', async () => {
    const account = await giveAccount();
    await run('key create', { account, scopes: 'read,create' });
    expect(await run('key list', { account })).toMatchObject([{ scopes: 'create read' }]);
    for (const scopes of ['', ' ', 'fly'])
      await expect(run('key create', { account, scopes })).rejects.toThrow(
        'scopes must be a list of create, read, cancel, refund',
      );
    expect(await run('key list', { account })).toHaveLength(1);
  });

  it('of accounts that do not exist, and keys that do not, are named', async () => {
    for (const name of ['key create', 'key list', 'payment list', 'event list', 'account update'])
      await expect(run(name, { account: 'acc_x' })).rejects.toThrow('The account acc_x does not exist.');
    await expect(run('key revoke', { key: 'key_x' })).rejects.toThrow('The key key_x does not exist.');
    await expect(run('key create', { account: await giveAccount(), name: '' })).rejects.toThrow(
      /^name must not be empty/,
    );
  });
});

describe('payments', () => {
  it('are listed newest first, at most a hundred, by account and status', async () => {
    const many = await givePayments(store, 101);
    const other = await givePayment(store);
    await store.payments.decidePayment(other.id, pay);
    const account = many[0]?.accountId;
    const idsOf = async (args: OperationArguments) =>
      (await run<{ payment_id: string }[]>('payment list', args)).map(({ payment_id }) => payment_id);
    const newestFirst = [...many, other]
      .map(({ id }) => id)
      .sort()
      .reverse();
    expect(await idsOf({})).toEqual(newestFirst.slice(0, 100));
    expect(await idsOf({ account })).toEqual(newestFirst.filter((id) => id !== other.id).slice(0, 100));
    expect(await idsOf({ status: 'paid' })).toEqual([other.id]);
    expect(await idsOf({ account, status: 'paid' })).toEqual([]);
    expect(await idsOf({ account, before: newestFirst[newestFirst.length - 2] })).toHaveLength(1);
    expect(
      await idsOf({ account, search: many[7]?.id, provider: 'multi', 'forward-status': 'pending' }),
    ).toEqual([many[7]?.id]);
    await expect(run('payment list', { search: 'shoes' })).rejects.toThrow('search requires --account');
    await expect(run('payment list', { account, currency: 'XXX' })).rejects.toThrow(
      'currency must be one of',
    );
  });

  it('are shown with deposits, sessions and webhooks, as JSON', async () => {
    const payment = await givePayment(store);
    await store.payments.addSession(newSession(payment), () => null);
    await store.payments.decidePayment(payment.id, pay);
    const block = await watchTheChain();
    await store.observations.recordScan(
      {
        from: block,
        final: { number: 2, hash: '0x2', timestampMs: NOW_MS },
        scannedTo: 2,
        deposits: [
          {
            paymentId: payment.id,
            units: 104_500_000n,
            blockNumber: 2,
            logIndex: 0,
            transactionHash: '0xaa',
          },
        ],
        releases: [],
      },
      () => null,
    );
    const refund = await giveRefund(store, newRefund(payment));
    const shown = await run('payment show', { payment: payment.id });
    expect(JSON.parse(JSON.stringify(shown))).toMatchObject({
      payment_id: payment.id,
      status: 'paid',
      forward_status: 'completed',
      amount: '102.57',
      currency: 'EUR',
      enough: '104.000001',
      deposits: [{ transaction: '0xaa', block_number: 2, log_index: 0, amount: '104.500000' }],
      releases: [],
      final_block: 2,
      sessions: [{ provider: 'moonpay' }],
      refunds: [{ refund_id: refund.id, status: 'awaiting_transfer', amount: '5.000000' }],
      webhooks: [{ event: 'payment.paid', url: payment.callbackUrl, status: 'pending', http_status: null }],
    });
  });

  it('are canceled while nothing has arrived, and only once', async () => {
    await watchTheChain();
    const payment = (await givePayment(store)).id;
    expect(await run('payment cancel', { payment })).toMatchObject({
      status: 'canceled',
      cancel_reason: 'operator',
    });
    await expect(run('payment cancel', { payment })).rejects.toThrow('canceled/canceled cannot be canceled');
    await expect(run('payment release', { payment })).rejects.toThrow(
      'The deposit address of this payment holds no USDC',
    );
  });

  it('are told of by events, from a number on', async () => {
    const payment = await givePayment(store);
    const opened = [];
    for (let count = 0; count < 2; count++) {
      const { id } = await giveRefund(store, newRefund(payment));
      opened.push({ type: 'refund.opened', payment_id: payment.id, refund_id: id });
    }
    while ((await store.events.numberEvents(100)) > 0);
    const account = payment.accountId;
    const listed = await run<{ number: number }[]>('event list', { account });
    expect(listed).toMatchObject(opened);
    const after = String(listed[0]?.number);
    expect(await run('event list', { account, after })).toMatchObject(opened.slice(1));
    await expect(run('event list', { account, after: 'x' })).rejects.toThrow('after must be a whole number');
    await expect(run('event list')).rejects.toThrow('account is missing');
  });

  it.each(['payment show', 'payment cancel', 'payment release', 'sandbox pay'])(
    '%s names what is wrong',
    async (name) => {
      await watchTheChain();
      const unknown = (await givePayment(store)).id.replace(/.{4}$/, '0000');
      Object.assign(context, { sandboxOperations: sandboxThat({}) });
      await expect(run(name, { payment: unknown })).rejects.toThrow('Payment not found.');
      await expect(run(name, { payment: 'x' })).rejects.toThrow(
        'payment must be a payment id, the payment_id of a create',
      );
      await expect(run(name)).rejects.toThrow('payment is missing');
    },
  );

  it('are rescued by the relayer of a running server', async () => {
    const payment = (await givePayment(store)).id;
    await expect(run('payment rescue', { payment, token: 'pol' })).rejects.toThrow(
      'A rescue needs a running server.',
    );
    const asked: unknown[] = [];
    Object.assign(context, { rescue: async (...call: unknown[]) => `0x${asked.push(call)}` });
    expect(await run('payment rescue', { payment, token: 'pol' })).toEqual({ transaction_hash: '0x1' });
    expect(asked).toEqual([[payment, `0x${'0'.repeat(40)}`]]);
    await expect(run('payment rescue', { payment, token: 'x' })).rejects.toThrow(/^token must be/);
  });
});

it.each(['payment destroy', 'toString', '__proto__', ''])('an operation %j does not exist', async (name) => {
  await expect(run(name)).rejects.toThrow(`The operation ${name} does not exist.`);
});

it('the audit log is exported newest first in portions, as lines of JSON or CSV, by time and account', async () => {
  const [account, other] = [await giveAccount('Tea'), await giveAccount('Other')];
  for (let index = 1; index <= 1_000; index++)
    await store.audit.appendEntry(
      newEntry(account, { atMs: NOW_MS + index, target: '=1+1', actor: `${index}@x` }),
    );
  const portion = async (args: OperationArguments) =>
    (await run('audit export', args)) as { readonly lines: string; readonly next: string | null };
  const first = await portion({ account, cursor: '' });
  const last = await portion({ account, cursor: first.next ?? '' });
  expect([first.next, last.next]).toEqual([`${NOW_MS + 1}.${account}.2`, null]);
  const lines = `${first.lines}${last.lines}`
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ position }) => position)).toEqual(
    Array.from({ length: 1_001 }, (_, index) => 1_001 - index),
  );
  const created = {
    account_id: account,
    position: 1,
    actor: 'operator',
    action: 'account.created',
    target: 'Tea',
  };
  expect(lines.at(-1)).toMatchObject({ ...created, created_at: expect.any(String), address: null });

  const [from, before] = [NOW_MS + 1_000, NOW_MS + 1_001].map((timeMs) => new Date(timeMs).toISOString());
  const csv = `account_id,position,created_at,actor,action,target,address\r
${account},1001,${from},"1000@x",session.opened,"'=1+1",192.0.2.1\r\n`;
  for (const query of [{ account }, {}])
    expect(await portion({ ...query, from, before, csv: true })).toEqual({ lines: csv, next: null });
  expect((await portion({ account: other })).lines).not.toContain('Tea');
  await expect(portion({ account: 'acc_x' })).rejects.toThrow('The account acc_x does not exist.');
  // Without a zone, the time would be that of the server.
  for (const time of ['x', '2026-11-01T12:00'])
    await expect(portion({ from: time })).rejects.toThrow(
      'from must be a time like 2026-11-01T00:00:00Z, or a day',
    );
});

it('account erase-emails says how to go on, and writes no whole erasure down, where a webhook is being sent', async () => {
  const payments = await givePayments(store, 2, { email: 'jane@example.com' });
  const [first, second] = payments as [Payment, Payment];
  await store.payments.decidePayment(second.id, pay);
  const [claimed] = await claimOldest(store.webhooks, 1, NOW_MS);
  Object.assign(context, { nowMs: () => NOW_MS + 2 * DAY_MS });
  const args = { account: first.accountId, 'older-than-days': '1' };
  const inLog = async () =>
    (await store.audit.listEntries(first.accountId, null, 10)).map(({ action, target }) => [action, target]);
  expect(await run('account erase-emails', args)).toEqual({
    account_id: first.accountId,
    erased: 1,
    complete: false,
    note: expect.stringContaining('Run the same command again'),
  });
  expect(await run('account erase-emails', args)).toMatchObject({ erased: 0, complete: false });
  expect(await inLog()).toEqual([['account.emails_erased', '1 days (not complete)']]);
  await store.webhooks.recordWebhookResult(claimed as never, failedResult);
  expect(await run('account erase-emails', args)).toEqual({
    account_id: first.accountId,
    erased: 1,
    complete: true,
  });
  expect((await inLog())[0]).toEqual(['account.emails_erased', '1 days']);
});

it('the test of an endpoint says which steps are fine, and needs a running server', async () => {
  const check = () => run('webhook check', { url: 'https://shop.example/hook' });
  await expect(check()).rejects.toThrow('The test needs a running server.');
  const steps = [
    { name: 'Answer', level: 'warn', detail: 'It answered 200.' },
    { name: 'DNS', level: 'fail', detail: 'No such name.' },
  ] as const;
  Object.assign(context, { checkEndpoint: async () => steps });
  expect(await check()).toEqual({
    checks: [
      { ...steps[0], isFine: true },
      { ...steps[1], isFine: false },
    ],
  });
});

it('verification says when to run it again where no endpoint answers', async () => {
  await watchTheChain();
  const endpoints = createChainEndpoints({ urls: ['http://127.0.0.1:1'], chainId: 137 });
  Object.assign(context, {
    chain: {
      reader: createChainReader({ endpoints, sources: { token: ADDRESS, factories: [ADDRESS] } }),
      sweepBalances: createBalanceSweep({ endpoints, token: ADDRESS }),
    },
  });
  const verified = run('verify');
  await expect(verified).rejects.toThrow(/^The chain cannot be read: .*Run the command again in a minute/);
  await expect(verified).rejects.toBeInstanceOf(ServiceError);
  await closeChainEndpoints(endpoints);
});
