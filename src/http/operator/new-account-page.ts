import { createAccount, DEFAULT_FEE_BASIS_POINTS } from '../../accounts/create-account.ts';
import { recordAction } from '../../accounts/people-context.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { type Address, parsePayoutAddress } from '../../domain/payout-address.ts';
import { parseUserEmail } from '../../domain/person.ts';
import { notice, textField } from '../dashboard/fields.ts';
import type { FormFields } from '../dashboard/form-fields.ts';
import { formTokenField } from '../dashboard/form-token.ts';
import { type Html, html, nothing } from '../design/html.ts';
import type { OperatorContext, OperatorRoutes } from './context.ts';
import { OPERATOR_PATH } from './operator-area.ts';
import {
  type OperatorAnswer,
  type OperatorView,
  operatorForm,
  operatorPage,
  seeOther,
} from './operator-page.ts';
import { parseFee } from './parse-fee.ts';
import type { OperatorVisit } from './visit.ts';

/** What was typed into the form, to be shown again. */
interface Typed {
  readonly name: string;
  readonly email: string;
  readonly fee: string;
  readonly wallet: string;
}

const untouched: Typed = { name: '', email: '', fee: String(DEFAULT_FEE_BASIS_POINTS / 100), wallet: '' };

/** `/operator/accounts/new`: an account is made, with all features and providers. */
export function registerNewAccountPage(routes: OperatorRoutes): void {
  const own = { path: '/accounts/new', section: 'accounts' } as const;
  operatorPage(routes, { ...own, show: async (visit) => showForm(visit, untouched, nothing) });
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
  try {
    const account = await createAccount(context, {
      name: typed.name,
      email: emailOf(typed.email),
      feeBasisPoints: parseFee(typed.fee),
      wallet: walletOf(typed.wallet),
    });
    await recordAction(context, account.id, visit.actor, 'account.created', account.name);
    return seeOther(`/accounts/${account.id}?said=created`);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
    return { ...showForm(visit, typed, notice('bad', `Nothing was made: ${error.message}`)), status: 400 };
  }
}

function emailOf(text: string): string | null {
  if (text === '') return null;
  const email = parseUserEmail(text);
  if (email === null) throw invalidField('The e-mail address', 'is not one.');
  return email;
}

function walletOf(text: string): Address | null {
  if (text === '') return null;
  const wallet = parsePayoutAddress(text);
  if (wallet === null) throw invalidField('The wallet', 'must be an address (0x…) with a valid checksum.');
  return wallet;
}

function showForm(visit: OperatorVisit, typed: Typed, message: Html): OperatorView {
  return {
    title: 'Create an account',
    main: html`${message}
<form class="card" method="post" action="${OPERATOR_PATH}/accounts/new">${formTokenField(visit.formToken)}
${textField({ name: 'name', label: 'Name', value: typed.name, hint: 'The shop as customers see it.' })}
${textField({ name: 'email', label: 'E-mail address', type: 'email', value: typed.email, isOptional: true, hint: 'The merchant’s.' })}
${textField({ name: 'fee', label: 'Card fee in percent', value: typed.fee, hint: 'Of what arrives; it counts for payments made from then on.' })}
${textField({ name: 'wallet', label: 'Payout wallet', value: typed.wallet, isOptional: true, hint: 'On Polygon. The merchant can set it too.' })}
<div class="actions"><button class="button primary">Create account</button></div></form>`,
  };
}
