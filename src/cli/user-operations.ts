import { SERVICE_LOG } from '../accounts/audit-entry.ts';
import { type EraseEmailsContext, eraseEmail, eraseEmailsOlderThan } from '../accounts/erase-old-data.ts';
import { findExistingAccount } from '../accounts/manage-accounts.ts';
import { createPasswordLink, PASSWORD_LINK_MS } from '../accounts/password-links.ts';
import { operatorActor, recordAction, recordForUser } from '../accounts/people-context.ts';
import { parseUserEmail, type User } from '../accounts/person.ts';
import { hasSecondFactor, removeSecondFactor } from '../accounts/second-factor.ts';
import { changeOperator, createUser } from '../accounts/users.ts';
import { invalidField, ServiceError } from '../payment/errors.ts';
import { parseRetentionDays } from '../payment/redact-email.ts';
import { isLoopbackHost } from '../platform/public-address.ts';
import * as argument from './arguments.ts';
import type { Operation, OperationArguments, OperationsContext } from './operations-context.ts';

const LISTED_USERS = 1_000;

export const userOperations: Readonly<Record<string, Operation>> = {
  'user create': async (context, args) => {
    const account = argument.optional(args, 'account');
    const isOperator = args['operator'] === true;
    if (account === null && !isOperator) throw invalidField('account', 'is missing');
    const membership =
      account === null ? null : { accountId: account, role: argument.optionalRole(args, 'role') ?? 'owner' };
    const email = emailOf(args);
    if (args['existing'] !== true) requireNoPassword(await context.people.findUserByEmail(email), isOperator);
    const user = await createUser(context, { email, isOperator, membership });
    if (membership !== null) {
      const { accountId, role } = membership;
      await recordAction(context, accountId, operatorActor, 'member.added', `${user.email} (${role})`);
    }
    // Creates a link only for a user without a password, because an existing password stays valid.
    const link = user.passwordHash === null ? await linkFor(context, user) : {};
    if (user.passwordHash === null && user.isOperator)
      await recordAction(context, SERVICE_LOG, operatorActor, 'password.link_created', email);
    return { user_id: user.id, email: user.email, ...link };
  },
  'user update': async (context, args) => {
    const isOperator = args['operator'];
    if (typeof isOperator !== 'boolean') throw invalidField('operator', 'or no-operator is required');
    const known = await findUser(context, args);
    const isGiven = isOperator && !known.isOperator;
    if (isGiven && args['existing'] !== true) requireNoPassword(known, true);
    const user = await changeOperator(context, known, isOperator, operatorActor);
    const link = isGiven ? await linkFor(context, user) : {};
    if (isGiven) await recordForUser(context, user, operatorActor, 'password.link_created');
    return { email: user.email, operator: user.isOperator, ...link };
  },
  'user list': async (context) =>
    Promise.all(
      (await context.people.listUsers(LISTED_USERS)).map(async (user) => ({
        user_id: user.id,
        email: user.email,
        operator: user.isOperator,
        second_factor: await hasSecondFactor(context, user),
        created_at: new Date(user.createdAtMs).toISOString(),
      })),
    ),
  'user reset-second-factor': async (context, args) => {
    const user = await findUser(context, args);
    await removeSecondFactor(context, user, operatorActor);
    return { email: user.email, second_factor: false };
  },
  'user reset-link': async (context, args) => {
    const user = await findUser(context, args);
    await recordForUser(context, user, operatorActor, 'password.link_created');
    return { email: user.email, ...(await linkFor(context, user)) };
  },
};

/** Refuses a user with a password. Someone else may have claimed the email address through an earlier invitation. */
function requireNoPassword(user: User | null, isOperator: boolean): void {
  if (user === null || user.passwordHash === null) return;
  const wayOut = isOperator
    ? '--existing grants access with a new password link, and removes the password, second factors and sessions'
    : 'send a link from user reset-link, make sure the right person uses it, then add --existing';
  throw invalidField('email', `belongs to a user who already has a password: ${wayOut}`);
}

/** Returns a password link and its expiry. The link leads operators to the console, and others to the dashboard. */
async function linkFor(context: OperationsContext, user: User) {
  const token = await createPasswordLink(context, user);
  const area = user.isOperator ? `${context.adminBaseUrl}/operator` : `${context.baseUrl}/dashboard`;
  return {
    password_link: `${area}/password/${token}`,
    works_until: new Date(context.nowMs() + PASSWORD_LINK_MS).toISOString(),
    ...linkNote(context, user),
  };
}

/** Describes what prevents the user from opening the link; empty if nothing does. */
function linkNote(context: OperationsContext, { isOperator }: User): { readonly note?: string } {
  const { baseUrl, adminBaseUrl, direct, sandboxOperations } = context;
  const address = isOperator ? adminBaseUrl : baseUrl;
  const { hostname, port } = new URL(address);
  const wayOut = isOperator
    ? `for a browser elsewhere, open a tunnel first, ssh -L ${port}:localhost:${port} SERVER, or set ADMIN_BASE_URL`
    : 'set BASE_URL to the public URL of the service';
  const notes = [
    ...(direct === null ? ['No server is running: start it before you open the link.'] : []),
    ...(sandboxOperations === null && isLoopbackHost(hostname)
      ? [`Only this machine can open ${address}: ${wayOut}.`]
      : []),
  ];
  return notes.length === 0 ? {} : { note: notes.join(' ') };
}

async function findUser(context: OperationsContext, args: OperationArguments): Promise<User> {
  const email = emailOf(args);
  const user = await context.people.findUserByEmail(email);
  if (user === null) throw new ServiceError('not_found', `The user ${email} does not exist.`);
  return user;
}

function emailOf(args: OperationArguments): string {
  const email = parseUserEmail(argument.required(args, 'email'));
  if (email === null) throw invalidField('email', 'must be an email address');
  return email;
}

export const emailOperations: Readonly<Record<string, Operation>> = {
  'payment erase-email': async (context, args) => {
    const id = argument.requiredPaymentId(args, 'payment');
    const payment = await context.payments.findPaymentById(id);
    if (payment === null) throw new ServiceError('payment_not_found');
    const isErased = await eraseEmail(context, payment);
    if (isErased) await recordAction(context, payment.accountId, operatorActor, 'payment.email_erased', id);
    return { payment_id: id, erased: isErased };
  },
  'account erase-emails': async (context, args) => {
    const accountId = argument.required(args, 'account');
    const days = parseRetentionDays(argument.required(args, 'older-than-days'), 'older-than-days');
    await findExistingAccount(context, accountId);
    const { erased, stoppedBy } = await eraseAll(context, accountId, days);
    const isAll = stoppedBy === null;
    if (isAll || erased > 0) {
      const target = `${days} days${isAll ? '' : ' (not complete)'}`;
      await recordAction(context, accountId, operatorActor, 'account.emails_erased', target);
    }
    return { account_id: accountId, erased, complete: isAll, ...(isAll ? {} : { note: NOT_COMPLETE }) };
  },
};

const NOT_COMPLETE =
  'Not complete: a webhook with such an address is being sent. Run the same command again in a minute.';

/** Erases email addresses step by step until none is left, or until an unfinished webhook prevents the next step. */
async function eraseAll(context: EraseEmailsContext, accountId: string, days: number) {
  let erased = 0;
  for (;;) {
    const step = await eraseEmailsOlderThan(context, accountId, days);
    erased += step.erased;
    if (!step.hasMore) return { erased, stoppedBy: step.stoppedBy };
  }
}
