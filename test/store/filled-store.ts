import fc from 'fast-check';
import { roles } from '../../src/accounts/person.ts';
import { shopLogoOf } from '../../src/accounts/shop-profile.ts';
import type { Store } from '../../src/app/store/store.ts';
import type { Payment, PaymentId } from '../../src/payment/payment.ts';
import { providerIds } from '../../src/payment/provider-catalog.ts';
import type { BlockReference, RelayBatch } from '../../src/settlement/settlement-store.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { onePixel } from '../support/pictures.ts';
import {
  ADDRESS,
  failedResult,
  leave,
  NOW_MS,
  newAccount,
  newAttempt,
  newBatch,
  newKey,
  newPayment,
  newRecord,
  newSession,
  pay,
} from './fixtures.ts';
import { newDashboardSession, newEntry, newLink, newUser } from './people.ts';

/** Texts as strangers write them, but without the one character that PostgreSQL cannot store. */
const text = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((value) => !value.includes('\0'));
const units = fc.bigInt({ min: 0n, max: 2n ** 53n - 1n });
/** What a token can move. */
const chainUnits = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const cents = fc.integer({ min: 0, max: 10 ** 9 });
const timeMs = fc.integer({ min: 0, max: 2 ** 45 });
const hash = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((value) => `0x${value.toString(16)}`);

const paymentSpecification = fc.record({
  account: fc.nat(),
  fields: fc.record({
    createdAtMs: timeMs,
    amountCents: cents,
    originalAmountCents: fc.option(cents),
    customerFeeCents: fc.option(cents),
    passFeeToCustomer: fc.boolean(),
    email: fc.option(text),
    note: fc.option(text),
    callbackUrl: fc.option(text),
    orderLine: fc.option(text),
    origin: fc.option(text),
    usdUnits: units,
    paidThresholdUnits: units,
    receivedUnits: chainUnits,
    forwardedUnits: chainUnits,
    releaseDueAtMs: fc.option(timeMs),
    releaseRefusals: fc.nat(100),
    releaseRefusalReason: fc.option(text),
    noOpBatches: fc.nat(100),
    releaseRequested: fc.boolean(),
    cancelReason: fc.constantFrom(null, 'expired' as const, 'merchant' as const),
    txidIn: fc.option(hash),
    txidOut: fc.option(hash),
  }),
  key: fc.option(fc.record({ fingerprint: text, ageMs: fc.nat(1_000) })),
  quotes: fc.array(fc.option(chainUnits), { maxLength: 2 }),
  deposits: fc.array(fc.record({ transactionHash: hash, units: chainUnits }), { maxLength: 2 }),
  releases: fc.array(
    fc.record({ transactionHash: hash, toMerchantUnits: chainUnits, feeUnits: chainUnits }),
    {
      maxLength: 2,
    },
  ),
  isPaid: fc.boolean(),
});

/** What a store is filled with: anything that the ports can hold. */
export const specification = fc.record({
  accounts: fc.array(
    fc.record({
      fields: fc.record({
        name: text,
        email: fc.option(text),
        wallet: fc.constantFrom(null, ADDRESS as `0x${string}`),
        feeBasisPoints: fc.nat(1_000),
        features: fc.subarray(['card_checkout', 'fee_pass_through'] as const),
        providers: fc.option(fc.subarray([...providerIds])),
        suspended: fc.boolean(),
        supportUrl: fc.option(text),
        brandColor: fc.option(text),
        termsUrl: fc.option(text),
        returnUrl: fc.option(text),
        failureUrl: fc.option(text),
        timeZone: text,
        defaultCallbackUrl: fc.option(text),
        isWalletLocked: fc.boolean(),
        receivesAlerts: fc.boolean(),
        emailRetentionDays: fc.option(fc.integer({ min: 1, max: 3_650 })),
      }),
      hasLogo: fc.boolean(),
      keys: fc.array(fc.option(timeMs), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  payments: fc.array(paymentSpecification, { maxLength: 15 }),
  /** How many of the queued webhooks are taken, and how many of those get a result. */
  claimed: fc.nat(5),
  finished: fc.nat(5),
  responseExcerpt: text,
  durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  batches: fc.array(
    fc.record({ gasLimit: chainUnits, size: fc.integer({ min: 1, max: 3 }), isOpen: fc.boolean() }),
    {
      maxLength: 3,
    },
  ),
  settings: fc.array(
    fc.record({
      provider: fc.constantFrom(...providerIds),
      active: fc.option(fc.boolean()),
      minimumUsdCents: fc.option(cents),
    }),
    { maxLength: 4 },
  ),
  settlements: fc.nat(3),
  people: fc.array(
    fc.record({
      account: fc.nat(),
      role: fc.constantFrom(...roles),
      passwordHash: fc.option(text),
      totpSecret: fc.option(text),
      isOperator: fc.boolean(),
      userAgent: text,
      target: fc.option(text),
      isInvited: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  isExpiryUnderWay: fc.boolean(),
});

type Specification = typeof specification extends fc.Arbitrary<infer Value> ? Value : never;

/** The Idempotency-Keys that `fill` used, which no port lists. */
export interface UsedKey {
  readonly accountId: string;
  readonly key: string;
}

async function fillPeople(store: Store, given: Specification, accountIds: readonly string[]): Promise<void> {
  for (const [index, person] of given.people.entries()) {
    const accountId = accountIds[person.account % accountIds.length] as string;
    const { role, passwordHash, totpSecret, isOperator, userAgent, target } = person;
    const user = newUser({
      id: `usr_${index}`,
      email: `${index}@shop.example`,
      passwordHash,
      totpSecret,
      isOperator,
    });
    await store.people.createUser(user);
    await store.people.putMembership({ accountId, userId: user.id, role, createdAtMs: NOW_MS + index });
    await store.people.replaceRecoveryCodes(user.id, ['hash 1', 'hash 2']);
    await store.sessions.createSession(newDashboardSession(user.id, { accountId, userAgent }));
    const link = person.isInvited ? { accountId, role, userId: null } : { userId: user.id };
    await store.sessions.createLink(newLink(link));
    await store.audit.appendEntry(newEntry(accountId, { target }));
  }
}

/** Fills an empty store through its ports. */
export async function fill(store: Store, given: Specification): Promise<readonly UsedKey[]> {
  const accountIds: string[] = [];
  for (const { fields, hasLogo, keys } of given.accounts) {
    const account = newAccount(fields);
    accountIds.push(account.id);
    await store.accounts.createAccount(account);
    if (hasLogo) await store.accounts.updateAccount(account.id, { logo: shopLogoOf(onePixel) });
    for (const revokedAtMs of keys) await store.accounts.createKey(newKey(account.id, { revokedAtMs }), 10);
  }
  await fillPeople(store, given, accountIds);
  const usedKeys: UsedKey[] = [];
  const payments: Payment[] = [];
  for (const [index, { account, fields, key, quotes }] of given.payments.entries()) {
    const accountId = accountIds[account % accountIds.length] as string;
    const payment = newPayment(accountId, fields);
    const record =
      key === null
        ? null
        : newRecord(accountId, `key ${index}`, {
            fingerprint: key.fingerprint,
            createdAtMs: NOW_MS - key.ageMs,
          });
    await store.payments.createPayment(payment, record);
    if (record !== null) usedKeys.push({ accountId, key: record.key });
    for (const quotedUnits of quotes)
      await store.payments.addSession(newSession(payment, { quotedUnits }), leave);
    payments.push(payment);
  }
  await fillObservations(store, given, payments);
  for (const [index, { isPaid }] of given.payments.entries()) {
    if (isPaid) await store.payments.decidePayment((payments[index] as Payment).id, pay);
  }
  await fillWebhooks(store, given);
  await fillBatches(store, given, payments);
  await fillSettings(store, given);
  return usedKeys;
}

async function fillObservations(
  store: Store,
  given: Specification,
  payments: readonly Payment[],
): Promise<void> {
  let cursor: BlockReference = { number: 10, hash: '0x10', timestampMs: NOW_MS };
  await store.observations.startCursor(cursor);
  const seen = new Set<string>();
  const isNew = ({ transactionHash }: { transactionHash: string }) => {
    return !seen.has(transactionHash) && seen.add(transactionHash);
  };
  for (const [index, { deposits, releases }] of given.payments.entries()) {
    const { id: paymentId, accountId } = payments[index] as Payment;
    const final = { number: cursor.number + 2, hash: `0x${cursor.number + 2}`, timestampMs: NOW_MS + index };
    const blockNumber = final.number - (index % 2);
    const scan = { from: cursor, final, scannedTo: final.number + 1 };
    const place = (logIndex: number) => ({ paymentId, accountId, blockNumber, logIndex });
    await store.observations.recordScan(
      {
        ...scan,
        deposits: deposits.filter(isNew).map((deposit, log) => ({ ...deposit, ...place(log) })),
        releases: releases.filter(isNew).map((release, log) => ({ ...release, ...place(log + 10) })),
      },
      leave,
    );
    cursor = final;
  }
  const [first] = payments;
  if (given.isExpiryUnderWay && first !== undefined) {
    await store.observations.advanceExpiryWatermark([first.id], { from: '', to: first.id }, leave);
  }
}

async function fillWebhooks(store: Store, given: Specification): Promise<void> {
  if (given.claimed === 0) return;
  const claimed = await claimOldest(store.webhooks, given.claimed, NOW_MS);
  for (const webhook of claimed.slice(0, given.finished)) {
    const { responseExcerpt, durationMs } = given;
    await store.webhooks.recordWebhookResult(webhook, { ...failedResult, responseExcerpt, durationMs });
  }
}

async function fillBatches(store: Store, given: Specification, payments: readonly Payment[]): Promise<void> {
  let from = 0;
  for (const [index, { gasLimit, size, isOpen }] of given.batches.entries()) {
    const carried = payments.slice(from, from + size);
    if (carried.length === 0) return;
    from += size;
    const kind = { kind: 'rescue' as const, rescueToken: ADDRESS as `0x${string}` };
    const batch = newBatch(carried, { relayer: `relayer ${index}`, gasLimit, ...(index === 1 ? kind : {}) });
    const { id } = await store.relay.openBatch(batch as Omit<RelayBatch, 'id'>, leave);
    await store.relay.addAttempt(id, newAttempt());
    if (!isOpen) await store.relay.closeBatch(id, 'resolved', NOW_MS, leave);
  }
}

async function fillSettings(store: Store, given: Specification): Promise<void> {
  for (const { provider, ...change } of given.settings)
    await store.providers.writeProviderSettings(provider, change);
  for (let index = 0; index < given.settlements; index++) {
    const address = `0x${String(index).padStart(40, '0')}` as const;
    await store.settlements.rememberSettlement({
      chainId: 137 + index,
      token: address,
      factory: address,
      implementation: address,
      factoryCodeHash: '0xab',
      feeWallet: address,
      lastStartedAtMs: NOW_MS + index,
    });
  }
}

/** All that can be read through the ports. */
export async function readEverything(store: Store, usedKeys: readonly UsedKey[]): Promise<unknown> {
  const accounts = await store.accounts.listAccounts();
  const users = await store.people.listUsers(1_000);
  const ids: readonly PaymentId[] = await store.payments.listPaymentIds('', '~', 1_000);
  return {
    accounts,
    logo: await store.accounts.findLogo(shopLogoOf(onePixel).hash),
    keys: await Promise.all(accounts.map(({ id }) => store.accounts.listKeys(id))),
    views: await Promise.all(ids.map((id) => store.payments.viewPayment(id))),
    addresses: await store.payments.listDepositAddresses('', 1_000),
    idempotent: await Promise.all(
      usedKeys.map(({ accountId, key }) => store.payments.findIdempotent(accountId, key, 0)),
    ),
    webhooks: await Promise.all(ids.map((id) => store.webhooks.listWebhooks(id))),
    states: await Promise.all(ids.map((id) => store.search.listStateChanges(id))),
    cursor: await store.observations.readCursor(),
    checkpoints: await store.observations.listCheckpoints(1_000),
    watermark: await store.observations.readExpiryWatermark(),
    due: await store.relay.claimDueReleases('relayer', NOW_MS, 1_000, 1_000),
    batches: await store.relay.listOpenBatches(1_000),
    settings: await Promise.all(providerIds.map((id) => store.providers.readProviderSettings(id))),
    settlements: await store.settlements.listSettlements(),
    users,
    members: await Promise.all(accounts.map(({ id }) => store.people.listMembers(id))),
    sessions: await Promise.all(users.map(({ id }) => store.sessions.listSessions(id))),
    invitations: await Promise.all(accounts.map(({ id }) => store.sessions.listInvitations(id, NOW_MS))),
    audit: await Promise.all(accounts.map(({ id }) => store.audit.listEntries(id, null, 100))),
  };
}
