import type { AccountStore } from '../domain/ports/account-store.ts';
import { type Mailer, MailNotSentError } from '../domain/ports/mailer.ts';
import type { PaymentSearchStore } from '../domain/ports/payment-search-store.ts';
import type { PeopleStore } from '../domain/ports/people-store.ts';
import type { Trouble, TroubleStore } from '../domain/ports/trouble-store.ts';
import { troubleMail } from '../domain/trouble-mail.ts';

export interface TellOfTroubleContext {
  readonly troubles: TroubleStore;
  readonly search: Pick<PaymentSearchStore, 'listTroubledWebhooks' | 'listUnsettled'>;
  readonly accounts: Pick<AccountStore, 'findAccount'>;
  readonly people: Pick<PeopleStore, 'listMembers'>;
  readonly mailer: Mailer;
  /** Of the dashboard, without a slash at its end. */
  readonly dashboardUrl: string;
  readonly nowMs: () => number;
  /** Told of each mail that failed, for the log. */
  readonly onFailure: (trouble: Trouble, error: unknown) => void;
}

const HOUR_MS = 3_600_000;
/** What is written down with a time may be committed a moment after it. */
const SETTLED_MS = 10_000;
/** What is older surprises more than it helps, for example after mail was first configured. */
const LATEST_MS = 24 * HOUR_MS;
const TROUBLES_AT_A_TIME = 5;
const NAMED = 10;
const MAXIMUM_OWNERS = 20;

/**
 * Tells owners by e-mail of webhooks that did not arrive and of payments that need a hand: of each kind at most once an
 * hour and account, with what has come up since. Claimed durably before it is sent, so that nobody is told twice.
 * Resolves to whether more may wait. Throws `MailNotSentError` when the mail server took none, which is then tried again.
 */
export async function tellOfTrouble(context: TellOfTroubleContext): Promise<boolean> {
  const { troubles } = context;
  const nowMs = context.nowMs();
  await troubles.noteTroubles(nowMs - LATEST_MS, nowMs - SETTLED_MS);
  const claimed = await troubles.claimTroubles(nowMs - HOUR_MS, TROUBLES_AT_A_TIME, nowMs);
  const failures = await Promise.all(claimed.map((trouble) => tellOwners(context, trouble)));
  const unsent = failures.find((failure) => failure !== null);
  if (unsent !== undefined) throw unsent;
  return claimed.length === TROUBLES_AT_A_TIME;
}

/** Null where it is done with; why not where the mail server was given nothing, and it waits again. */
async function tellOwners(context: TellOfTroubleContext, trouble: Trouble): Promise<MailNotSentError | null> {
  const account = await context.accounts.findAccount(trouble.accountId);
  if (account === null || !account.isToldOfTrouble) return null;
  const members = await context.people.listMembers(trouble.accountId);
  const owners = members.filter(({ role }) => role === 'owner').slice(0, MAXIMUM_OWNERS);
  const mail = await composeMail(context, trouble, account.name);
  const unsent: MailNotSentError[] = [];
  for (const { email } of owners) {
    await context.mailer.send({ to: email, ...mail }).catch((error: unknown) => {
      if (error instanceof MailNotSentError) unsent.push(error);
      context.onFailure(trouble, error);
    });
  }
  const [first = null] = unsent;
  // Where one was told already, the others are not told twice.
  if (first === null || unsent.length < owners.length) return null;
  await context.troubles.returnTrouble(trouble);
  return first;
}

async function composeMail(context: TellOfTroubleContext, trouble: Trouble, shop: string) {
  const { accountId, kind, sinceMs } = trouble;
  const [webhooks, payments] = await Promise.all([
    kind === 'webhooks' ? context.search.listTroubledWebhooks(accountId, NAMED) : [],
    kind === 'payments' ? context.search.listUnsettled(accountId, ['manual_required'], NAMED) : [],
  ]);
  return troubleMail({
    ...{ trouble, shop },
    webhooks: webhooks.filter(({ finishedAtMs }) => finishedAtMs >= sinceMs),
    payments,
    pageOf: (id) => `${context.dashboardUrl}/payments/${id}`,
    settingsUrl: `${context.dashboardUrl}/settings`,
  });
}
