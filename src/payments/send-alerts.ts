import { troubleMail } from '../domain/alert-mail.ts';
import type { AccountStore, PeopleStore } from '../domain/ports/account-store.ts';
import { type Mailer, MailNotSentError, type Trouble, type TroubleStore } from '../domain/ports/mail.ts';
import type { PaymentSearchStore } from '../domain/ports/payment-search-store.ts';

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
 * hour and account, with what has come up since. Claimed durably before it is sent, so that nobody is told twice, and
 * given back where nobody was told. One mail at a time, and none after `signal`. Resolves to whether more may wait. Throws
 * the last reason for which something was given back: `MailNotSentError` when the mail server took none.
 */
export async function tellOfTrouble(context: TellOfTroubleContext, signal: AbortSignal): Promise<boolean> {
  const { troubles } = context;
  const nowMs = context.nowMs();
  await troubles.noteTroubles(nowMs - LATEST_MS, nowMs - SETTLED_MS);
  const claimed = await troubles.claimTroubles(nowMs - HOUR_MS, TROUBLES_AT_A_TIME, nowMs);
  let failure: unknown = null;
  for (const trouble of claimed) {
    // A mail server that is away is so for the next one too; one that cannot be composed holds up no other.
    let isDone = false;
    try {
      if (!(failure instanceof MailNotSentError)) isDone = await tellOwners(context, trouble, signal);
    } catch (error) {
      failure = error;
    }
    if (!isDone) await troubles.returnTrouble(trouble);
  }
  if (failure !== null) throw failure;
  return !signal.aborted && claimed.length === TROUBLES_AT_A_TIME;
}

/** False where it was stopped before anybody was told. Throws only where nobody was told. */
async function tellOwners(
  context: TellOfTroubleContext,
  trouble: Trouble,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return false;
  const account = await context.accounts.findAccount(trouble.accountId);
  if (account === null || !account.isToldOfTrouble) return true;
  const members = await context.people.listMembers(trouble.accountId);
  const owners = members.filter(({ role }) => role === 'owner').slice(0, MAXIMUM_OWNERS);
  const mail = await composeMail(context, trouble, account.name);
  let isAnyTold = false;
  for (const { email } of owners) {
    // Where one was told already, the others hear of it with the next trouble, and nobody is told twice.
    if (signal.aborted) return isAnyTold;
    try {
      await context.mailer.send({ to: email, ...mail }, { isBackground: true });
      isAnyTold = true;
    } catch (error) {
      context.onFailure(trouble, error);
      if (!(error instanceof MailNotSentError)) isAnyTold = true;
      else if (!isAnyTold) throw error;
    }
  }
  return true;
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
