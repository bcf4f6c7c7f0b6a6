import { createAccount, DEFAULT_FEE_BASIS_POINTS, requireFee } from '../../accounts/manage-accounts.ts';
import { recordAction } from '../../accounts/people-context.ts';
import { invalidField } from '../../domain/errors.ts';
import { type Address, parsePayoutAddress } from '../../domain/payout-address.ts';
import { parseUserEmail } from '../../domain/person.ts';
import { parseName } from '../../domain/shop-profile.ts';
import { collectFieldErrors, errorSummary, type FieldErrors, noErrors } from '../dashboard/field-errors.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { type FormFields, formTokenField, textField } from '../signed-in/forms.ts';
import { parseFee } from './account-page.ts';
import {
  OPERATOR_PATH,
  type OperatorAnswer,
  type OperatorContext,
  type OperatorRoutes,
  type OperatorView,
  type OperatorVisit,
  operatorForm,
  operatorPage,
  seeOther,
} from './operator-page.ts';

/** The submitted values of the form. */
interface Typed {
  readonly name: string;
  readonly email: string;
  readonly fee: string;
  readonly wallet: string;
}

const labels = {
  name: 'Name',
  email: 'E-mail address',
  fee: 'Card fee in percent',
  wallet: 'Payout wallet',
} as const satisfies Record<keyof Typed, string>;
const untouched: Typed = { name: '', email: '', fee: String(DEFAULT_FEE_BASIS_POINTS / 100), wallet: '' };

/** `/operator/accounts/new`: creates an account with all features and providers. */
export function registerNewAccountPage(routes: OperatorRoutes): void {
  const own = { path: '/accounts/new', section: 'accounts' } as const;
  operatorPage(routes, {
    ...own,
    show: async (visit) => showForm(visit, untouched, { message: nothing, errors: noErrors }),
  });
  operatorForm(routes, { ...own, act: (visit, form) => answerCreate(routes.context, visit, form) });
}

async function answerCreate(
  context: OperatorContext,
  visit: OperatorVisit,
  form: FormFields,
): Promise<OperatorAnswer> {
  const typed: Typed = {
    name: form.text('name'),
    email: form.text('email').trim(),
    fee: form.text('fee').trim(),
    wallet: form.text('wallet').trim(),
  };
  const errors = await collectFieldErrors({
    name: () => parseName(typed.name),
    email: () => emailOf(typed.email),
    fee: () => requireFee(parseFee(typed.fee)),
    wallet: () => walletOf(typed.wallet),
  });
  if (errors.size > 0) {
    const message = errorSummary('No account was created.', labels, errors);
    return { ...showForm(visit, typed, { message, errors }), status: 400 };
  }
  const account = await createAccount(context, {
    name: typed.name,
    email: emailOf(typed.email),
    feeBasisPoints: parseFee(typed.fee),
    wallet: walletOf(typed.wallet),
  });
  await recordAction(context, account.id, visit.actor, 'account.created', account.name);
  return seeOther(`/accounts/${account.id}?flash=created`);
}

function emailOf(text: string): string | null {
  if (text === '') return null;
  const email = parseUserEmail(text);
  if (email === null) throw invalidField('The e-mail address', 'must be an e-mail address');
  return email;
}

function walletOf(text: string): Address | null {
  if (text === '') return null;
  const wallet = parsePayoutAddress(text);
  if (wallet === null)
    throw invalidField('The wallet', 'must be a Polygon address (0x…) with a valid checksum.');
  return wallet;
}

function showForm(
  visit: OperatorVisit,
  typed: Typed,
  { message, errors }: { readonly message: Html; readonly errors: FieldErrors },
): OperatorView {
  const field = (name: keyof typeof labels) => ({
    name,
    label: labels[name],
    value: typed[name],
    error: errors.get(name),
  });
  return {
    title: 'Create an account',
    main: html`${message}
<form class="card" method="post" action="${OPERATOR_PATH}/accounts/new">${formTokenField(visit.formToken)}
${textField({ ...field('name'), hint: 'The shop name that customers see.' })}
${textField({ ...field('email'), type: 'email', isOptional: true, hint: 'The merchant’s e-mail address.' })}
${textField({ ...field('fee'), hint: 'A percentage of the received USDC. It applies to new payments.' })}
${textField({ ...field('wallet'), isOptional: true, hint: 'A Polygon address. The merchant can change it.' })}
<div class="actions"><button class="button primary">Create account</button></div></form>`,
  };
}
