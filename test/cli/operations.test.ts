import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFixedRates } from '../../simulators/fixed-rates.ts';
import { createSandboxOperations } from '../../simulators/sandbox-operations.ts';
import { hashSecretToken } from '../../src/accounts/people-context.ts';
import { createChainReader } from '../../src/chain/create-chain-reader.ts';
import { closeChainEndpoints, createChainEndpoints } from '../../src/chain/endpoint-rotation.ts';
import { createBalanceSweep } from '../../src/chain/token-reader.ts';
import { runOperation } from '../../src/cli/control-socket.ts';
import type {
  DirectPayments,
  OperationArguments,
  OperationsContext,
  SandboxOperations,
} from '../../src/cli/operations-context.ts';
import type { Account } from '../../src/domain/account.ts';
import { hashApiKey } from '../../src/domain/api-key.ts';
import { SERVICE_LOG } from '../../src/domain/audit-entry.ts';
import { ServiceError } from '../../src/domain/errors.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { ProviderAdapter } from '../../src/domain/ports/provider.ts';
import type { TestPayments } from '../../src/domain/ports/test-payments.ts';
import type { ProviderId } from '../../src/domain/provider-catalog.ts';
import type { ProviderEvidence } from '../../src/domain/provider-evidence.ts';
import type { DirectPaymentRequest } from '../../src/payments/create-payment.ts';
import { createPictures } from '../../src/platform/pictures.ts';
import { withCircuitBreaker } from '../../src/providers/circuit-breaker.ts';
import { providerDescriptions } from '../../src/providers/providers.ts';
import type { Store } from '../../src/store/store.ts';
import { createCallbackGuard } from '../../src/webhooks/callback-host.ts';
import {
  DAY_MS,
  failedResult,
  givePayment,
  givePayments,
  NOW_MS,
  newPayment,
  newSession,
  pay,
} from '../store/fixtures.ts';
import { newDashboardSession } from '../store/people.ts';
import { claimOldest, withAnySecret } from '../support/claim-oldest.ts';
import { onePixel } from '../support/pictures.ts';
import { giveRefund, newRefund } from '../support/refunds.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-store.ts';

type Json = Record<string, unknown>;

const ADDRESS = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

let database: TestDatabase;
let store: Store;
let context: OperationsContext;

beforeEach(async () => {
  database = await createTestDatabase();
  store = await database.open();
  const moonpay: ProviderAdapter = {
    id: 'moonpay',
    quote: () => Promise.reject(new Error('not asked here')),
    startSession: () => Promise.reject(new Error('not asked here')),
  };
  const adapters = new Map<ProviderId, ProviderAdapter>([['moonpay', moonpay]]);
  context = {
    ...store,
    callbacks: createCallbackGuard({
      allowedHosts: new Set(),
      own: { hostname: 'pay.example.com', port: 443, path: '' },
    }),
    providerDescriptions,
    directory: { adapters, settings: store.providers },
    nowMs: () => NOW_MS,
    pictures: createPictures(),
    checkEndpoint: null,
    chain: null,
    baseUrl: 'https://pay.example.com',
    adminBaseUrl: 'https://admin.example.com',
    rescue: null,
    direct: null,
    sandboxOperations: null,
    isTestMode: false,
  };
});
afterEach(async () => {
  await store.close();
  await database.remove();
});

/** The sandbox's operations over test payments that can do this much. */
function sandboxThat(can: Partial<TestPayments>): SandboxOperations {
  const cannot = () => Promise.reject(new Error('not asked here'));
  return createSandboxOperations({
    pay: cannot,
    payRefund: cannot,
    setFault: cannot,
    setProviderFault: cannot,
    simulateOutcome: cannot,
    readEvents: cannot,
    defaults: { accountId: 'acc_demo', callbackUrl: 'https://idle.example.com/hook' },
    ...can,
  });
}

/** What a running server has; it creates nothing here. */
const direct: DirectPayments = {
  create: () => Promise.reject(new Error('not asked here')),
  createCheckout: () => Promise.reject(new Error('not asked here')),
  ipnTokenOf: () => 'ipn_test',
  token: ADDRESS,
  baseUrl: 'https://pay.example.com',
};

const run = <T = Json>(name: string, args: OperationArguments = {}) =>
  runOperation(context, name, args) as Promise<T>;

async function giveAccount(name = 'Shop'): Promise<string> {
  return (await run<{ account_id: string }>('account create', { name })).account_id;
}

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
    const common = {
      features: ['card_checkout', 'fee_pass_through'],
      providers: 'all',
      suspended: false,
      support_link: null,
      failure_link: null,
      return_link: null,
      terms_link: null,
      brand_color: null,
      logo: null,
      time_zone: 'UTC',
      base_currency: 'USD',
      default_callback: null,
      pinned_provider: null,
      excluded_providers: [],
      email_retention_days: null,
      tolerance_percent: null,
      max_provider_fee_percent: null,
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
    [{ name: '  ' }, /^name must have 1 to 100/],
    [{ name: 'x'.repeat(101) }, /^name must have 1 to 100/],
    [{ name: 'x', 'fee-percent': '10.01' }, /^fee-percent must be from 0 to 10/],
    [{ name: 'x', email: 'x' }, /^email must be/],
    [{ name: 'x', wallet: 'x' }, /^wallet must be/],
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
    ).toEqual({
      ...before,
      fee_percent: 0,
      providers: ['wert', 'moonpay'],
      features: ['fee_pass_through'],
    });
    expect(
      await run('account update', {
        account,
        providers: 'all',
        enable: 'card_checkout',
        'fee-percent': '2.5',
      }),
    ).toEqual(before);
  });

  it('take a tolerance and a maximum provider fee of their own, and the default again with empty text', async () => {
    const account = await giveAccount();
    const percentages = async (change: Json) => {
      const updated = await run('account update', { account, ...change });
      return [updated['tolerance_percent'], updated['max_provider_fee_percent']];
    };
    expect(await percentages({ 'tolerance-percent': '0.5' })).toEqual([0.5, null]);
    expect(await percentages({ 'max-provider-fee-percent': '12' })).toEqual([0.5, 12]);
    expect(await percentages({ 'tolerance-percent': '0' })).toEqual([0, 12]);
    expect(await percentages({ 'tolerance-percent': '', 'max-provider-fee-percent': '' })).toEqual([
      null,
      null,
    ]);
    for (const [option, value] of [
      ['tolerance-percent', '50.01'],
      ['tolerance-percent', '-1'],
      ['max-provider-fee-percent', '0.99'],
      ['max-provider-fee-percent', '51'],
    ]) {
      await expect(run('account update', { account, [String(option)]: value })).rejects.toThrow(
        `${option} must be a percentage from`,
      );
    }
  });

  it('are in the audit log with what was and what is, once created and once changed', async () => {
    const account = await giveAccount('Tea');
    await run('account update', { account });
    await run('account update', { account, 'fee-percent': '1.5', suspend: true });
    expect(await store.audit.listEntries(account, null, 10)).toMatchObject([
      {
        action: 'account.changed',
        actor: 'operator',
        target: 'fee from 2.5 % to 1.5 %; state from active to suspended',
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

  it('keep what was there when any part of a change is wrong', async () => {
    const account = await giveAccount();
    const before = await run('account update', { account });
    const wrong: [OperationArguments, RegExp][] = [
      [{ 'lock-wallet': true }, /^lock-wallet requires a wallet/],
      [{ 'support-link': 'x' }, /^support-link must/],
      [{ 'default-callback': 'https://localhost/' }, /^default-callback must/],
      [{ logo: Buffer.from('<svg/>').toString('base64') }, /^logo must/],
      [{ 'lock-wallet': true, 'unlock-wallet': true }, /^lock-wallet and unlock-wallet/],
    ];
    for (const [args, problem] of wrong) {
      await expect(run('account update', { account, suspend: true, name: 'New', ...args })).rejects.toThrow(
        problem,
      );
    }
    expect(await run('account update', { account })).toEqual(before);
  });

  it('keep both of two changes made at the same time', async () => {
    const account = await giveAccount();
    await Promise.all([
      run('account update', { account, disable: 'fee_pass_through' }),
      run('account update', { account, suspend: true }),
      run('account update', { account, 'fee-percent': '1' }),
    ]);
    expect(await run('account update', { account })).toMatchObject({
      features: ['card_checkout'],
      suspended: true,
      fee_percent: 1,
    });
  });

  it('that do not exist, and changes that contradict themselves, are refused', async () => {
    const account = await giveAccount();
    await expect(run('account update', { account: 'acc_nobody' })).rejects.toThrow(
      'The account acc_nobody does not exist.',
    );
    await expect(run('account update', { account, 'fee-percent': '11' })).rejects.toThrow(/^fee-percent/);
    await expect(
      run('account update', { account, enable: 'card_checkout', disable: 'card_checkout' }),
    ).rejects.toThrow(/^enable and disable both name card_checkout/);
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
    // Revoking twice keeps the first time.
    context = { ...context, nowMs: () => NOW_MS + 1 };
    expect(await run('key revoke', { key: key_id })).toEqual(revoked);
    expect(await run('key list', { account })).toEqual([revoked]);
  });

  it('are at most ten active ones, also when asked for at once; a revoked one makes room', async () => {
    const account = await giveAccount();
    const asked = await Promise.allSettled(Array.from({ length: 15 }, () => run('key create', { account })));
    const refused = asked.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(5);
    for (const { reason } of refused) {
      expect((reason as Error).message).toBe('The account already has 10 active keys: revoke one first.');
    }
    const [key] = await run<{ key_id: string }[]>('key list', { account });
    await run('key revoke', { key: key?.key_id });
    await run('key create', { account });
    await expect(run('key create', { account })).rejects.toThrow('10 active keys');
    expect(await run<Json[]>('key list', { account })).toHaveLength(11);
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
    await expect(run('key create', { account: 'acc_x' })).rejects.toThrow(
      'The account acc_x does not exist.',
    );
    await expect(run('key list', { account: 'acc_x' })).rejects.toThrow('The account acc_x does not exist.');
    await expect(run('payment list', { account: 'acc_x' })).rejects.toThrow(
      'The account acc_x does not exist.',
    );
    await expect(run('event list', { account: 'acc_x' })).rejects.toThrow(
      'The account acc_x does not exist.',
    );
    await expect(run('key revoke', { key: 'key_x' })).rejects.toThrow('The key key_x does not exist.');
    await expect(run('key create', { account: await giveAccount(), name: '' })).rejects.toThrow(
      /^name must have/,
    );
  });
});

describe('providers', () => {
  it('are all listed, active only with credentials, with the default minimum', async () => {
    const listed = await run<Json[]>('provider list');
    expect(listed).toHaveLength(11);
    expect(listed[0]).toEqual({
      provider: 'moonpay',
      name: 'MoonPay',
      active: true,
      switch: 'default',
      pinned: false,
      configured: true,
      minimum_usd: '20.00',
      only_currency: null,
      resting: null,
      failures_in_a_row: null,
      last_answer_at: null,
      last_failure_at: null,
      last_failure: null,
      blocked_because: null,
      evidence: 'not proved',
      unverified: expect.arrayContaining([expect.stringContaining('usdc_polygon')]),
    });
    expect(listed.filter(({ active }) => active)).toHaveLength(1);
    expect(listed.at(-1)).toMatchObject({ provider: 'klarna', configured: false, only_currency: 'EUR' });
  });

  it('are listed with how they have behaved, and checked with the credentials, where a server runs', async () => {
    await expect(run('provider check', { provider: 'moonpay' })).rejects.toThrow('needs a running server');
    const failing = context.directory.adapters?.get('moonpay') as ProviderAdapter;
    const moonpay = withCircuitBreaker(failing, { monotonicMs: () => 0, nowMs: () => NOW_MS, openMs: 1 });
    await moonpay.quote({ amountCents: 1, currency: 'USD', usdUnits: 1n }).catch(() => undefined);
    context = {
      ...context,
      directory: { adapters: new Map([['moonpay', moonpay]]), settings: store.providers },
      rates: createFixedRates(),
    };
    const [listed] = await run<Json[]>('provider list');
    expect(listed).toMatchObject({
      resting: false,
      failures_in_a_row: 1,
      last_answer_at: null,
      last_failure_at: new Date(NOW_MS).toISOString(),
      last_failure: 'not asked here',
    });

    await expect(run('provider check', { provider: 'moonpay' })).rejects.toThrow('no fee wallet');
    await store.settlements.rememberSettlement({
      chainId: 137,
      token: ADDRESS,
      factory: ADDRESS,
      implementation: ADDRESS,
      factoryCodeHash: `0x${'0'.repeat(64)}`,
      feeWallet: ADDRESS,
      lastStartedAtMs: NOW_MS,
    });
    expect(await run('provider check', { provider: 'moonpay', amount: '30', country: 'DE' })).toEqual({
      provider: 'moonpay',
      amount: '30.00 USD',
      is_fine: false,
      steps: [
        { step: 'credentials', is_fine: true, detail: 'The credentials are configured.' },
        { step: 'quote', is_fine: false, detail: 'not asked here' },
        { step: 'session', is_fine: false, detail: 'not asked here' },
        { step: 'webhooks', is_fine: true, detail: expect.stringContaining('Webhooks are rejected') },
      ],
    });
    // In the currency that it takes, and above its minimum.
    await run('provider set', { provider: 'klarna', 'minimum-usd': '100' });
    expect(await run('provider check', { provider: 'klarna' })).toMatchObject({
      amount: '110.00 EUR',
      is_fine: false,
      steps: [{ step: 'credentials', detail: expect.stringContaining('KLARNA_ROUTE') }],
    });
  });

  it.each([
    [null, { active: true, switch: 'on' }],
    [false, { active: false, switch: 'off' }],
  ])('are off in live mode, and on once proved, where the switch was %j', async (position, expected) => {
    const endpoint = { environment: 'production', urls: ['https://api.example.com'] } as const;
    const moonpay = { ...(context.directory.adapters?.get('moonpay') as ProviderAdapter), endpoint };
    const kept: ProviderEvidence[] = [
      {
        ...endpoint,
        provider: 'moonpay',
        atMs: NOW_MS,
        charge: '50.00 USD',
        country: null,
        steps: [{ step: 'session', outcome: 'fine', detail: '' }],
        confirmedAtMs: null,
        purchase: null,
      },
    ];
    context = {
      ...context,
      rates: createFixedRates(),
      directory: {
        adapters: new Map([['moonpay', moonpay]]),
        settings: store.providers,
        isOffByDefault: true,
        evidence: {
          readEvidence: async () => kept.at(-1) ?? null,
          writeEvidence: async (evidence) => `evidence ${kept.push(evidence)}`,
        },
      },
    };
    const listed = async () => (await run<Json[]>('provider list'))[0];
    expect(await listed()).toMatchObject({
      active: false,
      switch: 'default',
      blocked_because: expect.stringMatching(/^Off, because nothing proves .*"provider set ID --active"\.$/),
    });
    if (position !== null) await store.providers.writeProviderSettings('moonpay', { active: position });
    await run('provider prove', { provider: 'moonpay', confirm: true });
    expect(await listed()).toMatchObject({
      ...expected,
      evidence: `proved on ${new Date(NOW_MS).toISOString().slice(0, 10)}`,
      blocked_because: null,
    });
  });

  it('are switched off and on, and given another minimum', async () => {
    expect(await run('provider set', { provider: 'moonpay', inactive: true })).toMatchObject({
      active: false,
    });
    expect(await run('provider set', { provider: 'moonpay', 'minimum-usd': '7.5' })).toMatchObject({
      active: false,
      minimum_usd: '7.50',
    });
    expect(await run('provider set', { provider: 'moonpay', active: true })).toMatchObject({
      active: true,
      minimum_usd: '7.50',
    });
    for (const pinned of [true, false])
      expect(
        await run('provider set', { provider: 'moonpay', [pinned ? 'pin' : 'unpin']: true }),
      ).toMatchObject({ pinned, minimum_usd: '7.50' });
    await expect(run('provider set', { provider: 'moonpay', pin: true, unpin: true })).rejects.toThrow(
      'cannot be combined',
    );
    await expect(run('provider set', { provider: 'nobody' })).rejects.toThrow(
      /^provider must be one of moonpay/,
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
      context = { ...context, sandboxOperations: sandboxThat({}) };
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
    context = { ...context, rescue: async (...call) => `0x${asked.push(call)}` };
    expect(await run('payment rescue', { payment, token: 'pol' })).toEqual({ transaction_hash: '0x1' });
    expect(asked).toEqual([[payment, `0x${'0'.repeat(40)}`]]);
    await expect(run('payment rescue', { payment, token: 'x' })).rejects.toThrow(/^token must be/);
  });
});

describe('the sandbox', () => {
  it('is asked what the command says', async () => {
    const payment = await givePayment(store);
    const asked: unknown[][] = [];
    context = {
      ...context,
      sandboxOperations: sandboxThat({
        pay: async (...call) => {
          asked.push(call);
          return { provider: 'wert', transactionHash: '0xaa', deliveryUnits: 12_340_000n };
        },
        setFault: async (...call) => void asked.push(call),
        setProviderFault: async (...call) => void asked.push(call),
      }),
    };
    expect(await run('sandbox pay', { payment: payment.id, provider: 'wert', usdc: '12.34' })).toEqual({
      provider: 'wert',
      usdc: '12.340000',
      transaction_hash: '0xaa',
    });
    await run('sandbox pay', { payment: payment.id });
    expect(await run('sandbox fault', { target: 'provider', provider: 'wert', down: true })).toEqual({
      target: 'provider',
      provider: 'wert',
      fault: 'down',
    });
    await run('sandbox fault', { target: 'provider', provider: 'wert', 'wrong-token': true });
    await run('sandbox fault', { target: 'chain', up: true });
    expect(asked).toEqual([
      [payment, 'wert', 12_340_000n],
      [payment, null, null],
      ['wert', 'down'],
      ['wert', 'wrong-token'],
      ['chain', 'up'],
    ]);
  });

  it('is refused where there is none', async () => {
    const payment = (await givePayment(store)).id;
    const problem = 'This works only while the sandbox runs.';
    await expect(run('sandbox pay', { payment })).rejects.toThrow(problem);
    await expect(run('sandbox fault', { target: 'rates', down: true })).rejects.toThrow(problem);
    await expect(run('trigger', { event: 'payment.paid' })).rejects.toThrow(problem);
    await expect(run('listen')).rejects.toThrow(problem);
  });

  it('is refused by a server in live mode with other words', async () => {
    context = { ...context, direct };
    for (const name of ['trigger', 'listen', 'sandbox pay']) {
      await expect(run(name, { event: 'payment.paid' }), name).rejects.toThrow(/runs in live mode/);
    }
  });
});

describe('trigger', () => {
  const callbackUrl = 'https://idle.example.com/hook';
  let asked: [string, string, DirectPaymentRequest][];
  let account: string;

  beforeEach(async () => {
    asked = [];
    account = await giveAccount();
    await run('account update', { account, wallet: ADDRESS });
    const createAs =
      (kind: string, event: 'payment.paid' | 'payment.forwarded') =>
      async ({ id }: Account, request: DirectPaymentRequest) => {
        asked.push([kind, id, request]);
        const payment = newPayment(id, { callbackUrl: request.callbackUrl });
        await store.payments.createPayment(payment, null);
        await store.payments.decidePayment(payment.id, (view) => {
          const decision = pay(view);
          return decision && { ...decision, webhooks: [{ event, fields: {} }] };
        });
        return payment;
      };
    context = {
      ...context,
      direct: {
        ...direct,
        create: createAs('direct', 'payment.forwarded'),
        createCheckout: createAs('card', 'payment.paid'),
      },
      sandboxOperations: sandboxThat({
        pay: async () => {
          const waiting = await store.webhooks.listWaitingWebhooks(10, []);
          const ids = waiting.map(({ id }) => id);
          for (const claimed of await store.webhooks.claimWebhooks(ids, NOW_MS, withAnySecret)) {
            await store.webhooks.recordWebhookResult(claimed, failedResult);
          }
          return { provider: 'moonpay', transactionHash: '0xaa', deliveryUnits: 1n };
        },
        defaults: { accountId: account, callbackUrl },
      }),
    };
  });

  it.each([
    ['payment.paid', 'card'],
    ['payment.forwarded', 'direct'],
  ])('%s pays a new %s payment and tells how its one delivery ended', async (event, kind) => {
    const told = await run('trigger', { event });
    expect(asked).toMatchObject([
      [kind, account, { amountCents: 25_00, currency: 'USD', callbackUrl, payoutAddress: ADDRESS }],
    ]);
    expect(told).toMatchObject({
      event,
      callback: callbackUrl,
      ipn_token: 'ipn_test',
      delivery: 'failed',
      http_status: failedResult.httpStatus,
      reason: failedResult.reason,
    });
  });

  it('takes amount, callback and account, the account’s own callback before the sandbox’s', async () => {
    const other = await giveAccount('Other');
    await run('account update', {
      account: other,
      wallet: ADDRESS,
      'default-callback': 'https://other.example/hook',
    });
    await run('trigger', { event: 'payment.paid', account: other, amount: '7.50' });
    await run('trigger', { event: 'payment.paid', callback: 'https://named.example.com/hook' });
    expect(asked).toMatchObject([
      ['card', other, { amountCents: 7_50, callbackUrl: 'https://other.example/hook' }],
      ['card', account, { amountCents: 25_00, callbackUrl: 'https://named.example.com/hook' }],
    ]);
  });

  /** A payment as the shop created it, and that is paid by then. */
  async function giveOwn(): Promise<Payment> {
    const payment = newPayment(account, { callbackUrl });
    await store.payments.createPayment(payment, null);
    await store.payments.decidePayment(payment.id, pay);
    return payment;
  }

  it('pays a payment that the shop created, and creates none', async () => {
    const { id } = await giveOwn();
    const told = await run('trigger', { event: 'payment.paid', payment: id });
    expect(told).toMatchObject({ payment_id: id, callback: callbackUrl, delivery: 'failed' });
    expect(asked).toEqual([]);
  });

  it('pays the checkout that the shop creates at its URL, and says so when it creates none', async () => {
    let created: Payment | null = null;
    let isBroken = true;
    const shop = createServer((request, answer) => {
      if (request.method !== 'POST' || isBroken) return answer.writeHead(500).end();
      void giveOwn().then((payment) => {
        created = payment;
        answer.writeHead(303, { location: 'https://pay.example/' }).end();
      });
    });
    await new Promise<void>((resolve) => void shop.listen(0, '127.0.0.1', resolve));
    const args = {
      event: 'payment.paid',
      'order-url': `http://127.0.0.1:${(shop.address() as AddressInfo).port}/orders`,
    };
    await expect(run('trigger', args)).rejects.toThrow(/created no checkout.*the shop answered 500/);
    isBroken = false;
    expect(await run('trigger', args)).toMatchObject({ payment_id: (created as Payment | null)?.id });
    expect(asked).toEqual([]);
    await new Promise((resolve) => shop.close(resolve));
  });

  it.each([
    [{}, /^event is missing/],
    [{ event: 'payment.paid', payment: newPayment('acc').id }, /^Payment not found/],
    [{ event: 'payment.paid', 'order-url': 'shop' }, /^order-url must be a URL/],
    [
      { event: 'payment.paid', payment: newPayment('acc').id, 'order-url': 'http://127.0.0.1:1' },
      /exclude each other/,
    ],
    [{ event: 'payment.refunded' }, /^event must be one of payment.paid, payment.forwarded/],
    [{ event: 'payment.paid', amount: '0' }, /^amount must be/],
    [{ event: 'payment.paid', account: 'acc_x' }, /^The account acc_x does not exist/],
    [{ event: 'payment.paid', callback: 'http://x' }, /^callback must/],
  ])('refuses %j and makes nothing', async (args, problem) => {
    await expect(run('trigger', args)).rejects.toThrow(problem);
    expect(asked).toEqual([]);
  });
});

it.each(['payment destroy', 'toString', '__proto__', ''])('an operation %j does not exist', async (name) => {
  await expect(run(name)).rejects.toThrow(`The operation ${name} does not exist.`);
});

describe('account erase-emails', () => {
  it('says how to go on, and writes no whole erasure down, where a webhook is being sent', async () => {
    const payments = await givePayments(store, 2, { email: 'jane@example.com' });
    const [first, second] = payments as [Payment, Payment];
    await store.payments.decidePayment(second.id, pay);
    const [claimed] = await claimOldest(store.webhooks, 1, NOW_MS);
    context = { ...context, nowMs: () => NOW_MS + 2 * DAY_MS };
    const args = { account: first.accountId, 'older-than-days': '1' };
    const inLog = async () =>
      (await store.audit.listEntries(first.accountId, null, 10)).map(({ action, target }) => [
        action,
        target,
      ]);
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
});

describe('people', () => {
  const email = 'anna@shop.example';

  it('are made members with a link to set a password, and keep the password they have', async () => {
    const account = await giveAccount();
    const made = await run<{ user_id: string; password_link: string }>('user create', {
      email: ' Anna@Shop.example',
      account,
      role: 'developer',
    });
    expect(made).toMatchObject({
      email,
      password_link: expect.stringMatching(/^https:\/\/pay\.example\.com\/dashboard\/password\/[\w-]{43}$/),
    });
    expect(await store.people.listMembers(account)).toMatchObject([{ email, role: 'developer' }]);
    expect(await store.audit.listEntries(account, null, 1)).toMatchObject([
      { action: 'member.added', actor: 'operator', target: `${email} (developer)` },
    ]);
    await store.people.updateUser(made.user_id, { passwordHash: 'set' });
    const other = await giveAccount('Other');
    // Whoever accepted an invitation to this address first would otherwise get the right.
    await expect(run('user create', { email, account: other })).rejects.toThrow(/belongs to a user/);
    expect(await store.people.listMemberships(made.user_id)).toHaveLength(1);
    const again = await run('user create', { email, account: other, existing: true });
    expect(again).toEqual({ user_id: made.user_id, email });
    expect(await store.people.listMemberships(made.user_id)).toHaveLength(2);
    expect(await run('user list')).toMatchObject([{ email, operator: false, second_factor: false }]);
  });

  it('get another link, which is written down in each of their accounts', async () => {
    const account = await giveAccount();
    const { password_link: first } = await run('user create', { email, account });
    const { password_link: second } = await run('user reset-link', { email });
    expect(second).not.toBe(first);
    expect(await store.audit.listEntries(account, null, 1)).toMatchObject([
      { action: 'password.link_created' },
    ]);
  });

  it('lose a second factor, which is written down', async () => {
    const account = await giveAccount();
    const { user_id } = await run<{ user_id: string }>('user create', { email, account });
    await store.people.updateUser(user_id, { totpSecret: 'sealed' });
    await store.people.replaceRecoveryCodes(user_id, ['a']);
    expect(await run('user reset-second-factor', { email })).toEqual({ email, second_factor: false });
    expect((await store.people.findUser(user_id))?.totpSecret).toBeNull();
    expect(await store.people.consumeRecoveryCode(user_id, ['a'])).toBe(false);
    expect(await store.audit.listEntries(account, null, 1)).toMatchObject([
      { action: 'second_factor.removed' },
    ]);
  });

  it('get and lose the right of an operator, which is written down and ends their sessions', async () => {
    const inLog = async (limit: number) =>
      (await store.audit.listEntries(SERVICE_LOG, null, limit)).map(({ action, actor, target }) => [
        action,
        actor,
        target,
      ]);
    const { user_id, password_link } = await run<{ user_id: string; password_link: string }>('user create', {
      email,
      operator: true,
    });
    const inConsole = /^https:\/\/admin\.example\.com\/operator\/password\/[\w-]{43}$/;
    expect(password_link).toMatch(inConsole);
    expect(await run('user reset-link', { email })).toMatchObject({
      password_link: expect.stringMatching(inConsole),
    });
    expect(await inLog(10)).toEqual([
      ['password.link_created', 'operator', email],
      ['password.link_created', 'operator', email],
      ['operator.granted', 'operator', email],
    ]);
    await store.sessions.createSession(newDashboardSession(user_id));
    await store.sessions.createSession(newDashboardSession(user_id, { area: 'operator' }));
    expect(await run('user update', { email, operator: false })).toEqual({ email, operator: false });
    expect((await store.people.findUser(user_id))?.isOperator).toBe(false);
    expect(await store.sessions.listSessions(user_id)).toEqual([]);
    expect(await inLog(1)).toEqual([['operator.revoked', 'operator', email]]);

    await run('user reset-link', { email });
    await run('user update', { email, operator: false });
    expect(await inLog(10), 'no operator, and nothing changed').toHaveLength(4);
    expect(await run('user update', { email, operator: true })).toMatchObject({ email, operator: true });
    await run('user reset-link', { email });
    await run('user reset-second-factor', { email });
    expect((await inLog(4)).map(([action]) => action)).toEqual([
      'second_factor.removed',
      'password.link_created',
      'password.link_created',
      'operator.granted',
    ]);
    await expect(run('user update', { email })).rejects.toThrow('operator or no-operator is required');
  });

  it('that are known become operators after a question, without the password, factors, sessions and links they had', async () => {
    const account = await giveAccount();
    const made = await run<{ user_id: string; password_link: string }>('user create', { email, account });
    const operator = { email, operator: true };
    for (const operation of ['user update', 'user create']) {
      const userId = made.user_id;
      await store.people.updateUser(userId, {
        passwordHash: 'chosen by who accepted an invitation',
        totpSecret: 'sealed',
        isOperator: false,
      });
      await store.people.replaceRecoveryCodes(userId, ['a']);
      await store.people.addPasskey({
        id: operation,
        userId,
        name: 'Phone',
        publicKey: 'x',
        counter: 0,
        transports: '[]',
        createdAtMs: 0,
        lastUsedAtMs: null,
      });
      await store.sessions.createSession(newDashboardSession(userId));
      const { password_link: older } = await run<{ password_link: string }>('user reset-link', { email });
      await expect(run(operation, operator)).rejects.toThrow(/belongs to a user.*--existing/);
      expect((await store.people.findUser(userId))?.isOperator).toBe(false);

      const given = await run<{ password_link: string }>(operation, { ...operator, existing: true });
      expect(await store.people.findUser(userId)).toMatchObject({
        isOperator: true,
        passwordHash: null,
        totpSecret: null,
      });
      expect(await store.people.listPasskeys(userId)).toEqual([]);
      expect(await store.people.consumeRecoveryCode(userId, ['a'])).toBe(false);
      expect(await store.sessions.listSessions(userId)).toEqual([]);
      const linkOf = (url: string) => store.sessions.findLink(hashSecretToken(url.slice(-43)));
      expect(await linkOf(older)).toBeNull();
      expect(await linkOf(given.password_link)).toMatchObject({ userId });
      const log = await store.audit.listEntries(SERVICE_LOG, null, 2);
      expect(log.map(({ action }) => action)).toEqual(['password.link_created', 'operator.granted']);
    }
    // Who has the right already keeps everything.
    await store.people.updateUser(made.user_id, { passwordHash: 'their own' });
    expect(await run('user update', operator)).toEqual({ email, operator: true });
    expect((await store.people.findUser(made.user_id))?.passwordHash).toBe('their own');
  });

  it('lose links that set their password with any change of their rights', async () => {
    const [account, other] = [await giveAccount(), await giveAccount('Other')];
    const { user_id } = await run<{ user_id: string }>('user create', { email, account });
    for (const [operation, args] of [
      ['user create', { email, account: other, existing: true }],
      ['user update', { email, operator: false }],
    ] as const) {
      await store.people.updateUser(user_id, { passwordHash: 'set' });
      const { password_link } = await run<{ password_link: string }>('user reset-link', { email });
      await run(operation, args);
      expect(await store.sessions.findLink(hashSecretToken(password_link.slice(-43)))).toBeNull();
    }
  });

  it.each([
    [{ email: 'no address', account: 'x' }, 'email must be an email address'],
    [{ email }, 'account is missing'],
    [{ email, account: 'acc_unknown' }, 'The account acc_unknown does not exist.'],
    [{ email, account: 'x', role: 'king' }, 'role must be one of viewer, developer, owner'],
  ])('are not made of %o', async (args, problem) => {
    await expect(run('user create', args)).rejects.toThrow(problem);
    await expect(run('user reset-link', { email: 'nobody@shop.example' })).rejects.toThrow(
      'The user nobody@shop.example does not exist.',
    );
    expect(await run('user list')).toEqual([]);
  });
});

it('the test of an endpoint says which steps are fine, and needs a running server', async () => {
  const run = () => runOperation(context, 'webhook check', { url: 'https://shop.example/hook' });
  await expect(run()).rejects.toThrow('The test needs a running server.');
  const steps = [
    { name: 'Answer', level: 'warn', detail: 'It answered 200.' },
    { name: 'DNS', level: 'fail', detail: 'No such name.' },
  ] as const;
  context = { ...context, checkEndpoint: async () => steps };
  expect(await run()).toEqual({
    checks: [
      { ...steps[0], isFine: true },
      { ...steps[1], isFine: false },
    ],
  });
});

it('verification says when to run it again where no endpoint answers', async () => {
  await watchTheChain();
  const endpoints = createChainEndpoints({ urls: ['http://127.0.0.1:1'], chainId: 137 });
  context = {
    ...context,
    chain: {
      reader: createChainReader({ endpoints, sources: { token: ADDRESS, factories: [ADDRESS] } }),
      sweepBalances: createBalanceSweep({ endpoints, token: ADDRESS }),
    },
  };
  const run = runOperation(context, 'verify', {});
  await expect(run).rejects.toThrow(/^The chain cannot be read: .*Run the command again in a minute/);
  await expect(run).rejects.toBeInstanceOf(ServiceError);
  await closeChainEndpoints(endpoints);
});
