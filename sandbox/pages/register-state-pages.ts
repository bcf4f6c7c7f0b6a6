import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkoutPage } from '../../src/pages/checkout/checkout-page.ts';
import { problemWords } from '../../src/pages/checkout/choose-words.ts';
import type { ExamplePagesContext } from '../../src/pages/checkout/context.ts';
import { sendPhoneCode, sendTransferCode } from '../../src/pages/checkout/direct-payment.ts';
import { statusContent } from '../../src/pages/checkout/live-updates.ts';
import { type Checkout, checkoutOf } from '../../src/pages/checkout/read-checkout.ts';
import { ServiceError } from '../../src/payment/errors.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import { type Language, languageOf } from '../../src/web/checkout-layout/languages.ts';
import { layout, messagePage, sendExample, sendPage } from '../../src/web/checkout-layout/layout.ts';
import { html } from '../../src/web/design/html.ts';
import type { Words } from '../../src/web/locales/locale.ts';
import { createExamplePayments, exampleAccount, exampleChanges } from './example-payments.ts';
import { type ExampleState, exampleState, isExampleState, stateNames } from './example-states.ts';

/** Example of a checkout page after an action by the customer. */
export interface ExampleMoment {
  readonly state: ExampleState;
  /** Error after a click on a provider. */
  readonly problem?: { readonly provider: ProviderId | null; readonly error: ServiceError };
}

export const exampleMoments: Readonly<Record<string, ExampleMoment>> = {
  'provider-down': { state: 'choose', problem: problem('moonpay', 'provider_unavailable') },
  'provider-down-single': { state: 'choose-single', problem: problem('moonpay', 'provider_unavailable') },
  'provider-busy': { state: 'choose', problem: problem('wert', 'provider_unavailable', 2) },
  'provider-inactive': { state: 'choose', problem: problem('wert', 'provider_inactive') },
  'below-minimum': { state: 'choose-small', problem: problem('moonpay', 'below_minimum') },
  'currency-locked': { state: 'choose', problem: problem('klarna', 'currency_locked') },
  'country-asked': { state: 'choose', problem: problem('revolut', 'invalid_request') },
  'too-often': { state: 'choose', problem: problem('wert', 'rate_limited') },
};

function problem(
  provider: ProviderId,
  name: ConstructorParameters<typeof ServiceError>[0],
  retryAfterSeconds?: number,
) {
  return { provider, error: new ServiceError(name, undefined, { retryAfterSeconds }) };
}

/** Path of the checkout page in every state, for designers. The payments are examples, so buttons have no effect. */
const PATH = '/sandbox/pages';

/** Names of messages, by the name of the page that shows only this message. */
const messageNames: Readonly<Record<string, keyof Words['messages']>> = {
  'unknown-link': 'unknownLink',
  'too-many-requests': 'tooManyRequests',
  'did-not-work': 'didNotWork',
  'our-failure': 'ourFailure',
};

export const statePageNames: readonly string[] = [
  ...stateNames,
  ...Object.keys(exampleMoments),
  ...Object.keys(messageNames),
];

interface StateRoute {
  Params: { state: string };
}

export function registerStatePages(server: FastifyInstance, context: ExamplePagesContext): void {
  const { baseUrl } = context;
  server.get(PATH, (request, reply) => sendPage({ context, reply }, 200, listOfStates(languageOf(request))));
  server.get<StateRoute>(`${PATH}/:state`, (request, reply) => showState(context, request, reply));
  server.get<StateRoute>(`${PATH}/:state/qr.svg`, (request, reply) => {
    const { state } = request.params;
    exampleOf(state);
    return sendPhoneCode(reply, `${baseUrl}${PATH}/${state}`);
  });
  server.get<StateRoute>(`${PATH}/:state/transfer.svg`, async (request, reply) => {
    const { checkout } = await checkoutIn(context, request.params.state);
    return sendTransferCode(reply, checkout, context.token);
  });
  server.get<StateRoute>(`${PATH}/:state/events`, (_request, reply) => reply.code(204).send());
  server.get<StateRoute>(`${PATH}/:state/status`, (request, reply) => showStatus(context, request, reply));
}

function listOfStates(language: Language) {
  return layout({
    language,
    title: 'Pages',
    isTestMode: true,
    main: html`<main class="card alone"><h1>The checkout in every state</h1>
<ul>${statePageNames.map((name) => html`<li><a href="${PATH}/${name}">${name}</a></li>`)}</ul></main>`,
    kind: 'message',
  });
}

async function showState(
  context: ExamplePagesContext,
  request: FastifyRequest<StateRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { explorerTransactionUrl, token } = context;
  const language = languageOf(request);
  const name = request.params.state;
  const message = Object.hasOwn(messageNames, name) ? messageNames[name] : undefined;
  if (message !== undefined) {
    const page = messagePage({ ...language.words.messages[message], language, isTestMode: true });
    return sendPage({ context, reply }, 200, page);
  }
  const { checkout, example } = await checkoutIn(context, name);
  const { problem } = example;
  const asks = problem?.error.errorName === 'invalid_request' ? problem.provider : null;
  const page = checkoutPage(checkout, {
    language,
    isTestMode: true,
    explorerTransactionUrl,
    token,
    quotes: { source: context.quotes, lastChoice: null, customerCountry: null },
    userAgent: request.headers['user-agent'] ?? '',
    question: asks === null ? null : { provider: asks, means: null },
    problem:
      problem === undefined || asks !== null
        ? null
        : problemWords(language, problem.error, problem.provider, checkout),
  });
  if (Object.hasOwn(request.query as object, 'framed')) return sendExample(reply, page);
  return sendPage({ context, reply }, 200, page);
}

/** Answers the page's script, always with the same state. */
async function showStatus(
  context: ExamplePagesContext,
  request: FastifyRequest<StateRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { checkout } = await checkoutIn(context, request.params.state);
  return reply
    .header('cache-control', 'no-store')
    .send(statusContent(context, checkout, languageOf(request), request.headers['user-agent']));
}

async function checkoutIn(
  context: ExamplePagesContext,
  name: string,
): Promise<{ checkout: Checkout; example: ExampleMoment }> {
  const example = exampleOf(name);
  const examples = createExamplePayments(context.nowMs());
  const stored = await checkoutOf(
    context,
    exampleState(examples, example.state),
    exampleAccount,
    exampleChanges(examples),
  );
  return { checkout: { ...stored, path: `${PATH}/${name}` }, example };
}

function exampleOf(name: string): ExampleMoment {
  if (isExampleState(name)) return { state: name };
  const moment = Object.hasOwn(exampleMoments, name) ? exampleMoments[name] : undefined;
  if (moment === undefined) throw new ServiceError('not_found');
  return moment;
}
