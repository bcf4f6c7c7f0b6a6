/**
 * The customer's page in every state, for those who design it: `/sandbox/pages`. The same functions draw it that draw
 * the real one; the payments behind it are examples, so that its buttons lead nowhere.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { Address } from '../../domain/payout-address.ts';
import { checkoutPage } from '../../http/checkout/checkout-page.ts';
import { type Language, languageOf } from '../../http/checkout/languages.ts';
import { layout } from '../../http/checkout/layout.ts';
import { messagePage } from '../../http/checkout/message-page.ts';
import { sendPage } from '../../http/checkout/page-headers.ts';
import { type Checkout, checkoutOf, type ReadCheckoutContext } from '../../http/checkout/read-checkout.ts';
import type { ExplorerTransactionUrl } from '../../http/checkout/receipt.ts';
import { problemWords } from '../../http/checkout/refusal-words.ts';
import { sendPhoneCode } from '../../http/checkout/show-phone-code.ts';
import { statusContent } from '../../http/checkout/show-status.ts';
import type { Words } from '../../http/checkout/words/words.ts';
import { html } from '../../http/design/html.ts';
import type { AskQuote } from '../../payments/ask-quotes.ts';
import { type ExampleMoment, exampleMoments } from './example-moments.ts';
import { createExamplePayments, exampleAccount } from './example-payments.ts';
import { exampleState, isExampleState, stateNames } from './example-states.ts';

const PATH = '/sandbox/pages';

/** Pages that only say something, by their names in the catalogues. */
const messageNames: Readonly<Record<string, keyof Words['messages']>> = {
  'unknown-link': 'unknownLink',
  'too-many-requests': 'tooManyRequests',
  'did-not-work': 'didNotWork',
  'our-failure': 'ourFailure',
};

/** All pages by the last part of their addresses. */
export const statePageNames: readonly string[] = [
  ...stateNames,
  ...Object.keys(exampleMoments),
  ...Object.keys(messageNames),
];

/** What the pages need of the service around them. */
export interface StatePagesContext extends Pick<ReadCheckoutContext, 'directory' | 'nowMs'> {
  readonly baseUrl: string;
  readonly explorerTransactionUrl: ExplorerTransactionUrl;
  readonly token: Address;
  readonly askQuote: AskQuote;
}

interface StateRoute {
  Params: { state: string };
}

/** Registers the list of states and a page for each. */
export function registerStatePages(server: FastifyInstance, context: StatePagesContext): void {
  const { baseUrl } = context;
  server.get(PATH, (request, reply) =>
    sendPage(reply, { status: 200, baseUrl, page: listOfStates(languageOf(request)) }),
  );
  server.get<StateRoute>(`${PATH}/:state`, (request, reply) => showState(context, request, reply));
  server.get<StateRoute>(`${PATH}/:state/qr.svg`, (request, reply) => {
    const { state } = request.params;
    exampleOf(state);
    return sendPhoneCode(reply, `${baseUrl}${PATH}/${state}`);
  });
  // There is nothing to tell: the page's script asks instead, as it does where no stream is to be had.
  server.get<StateRoute>(`${PATH}/:state/events`, (_request, reply) => reply.code(204).send());
  server.get<StateRoute>(`${PATH}/:state/status`, (request, reply) => showStatus(context, request, reply));
}

function listOfStates(language: Language) {
  return layout({
    language,
    title: 'Pages',
    isSandbox: true,
    main: html`<main class="card alone"><h1>The checkout in every state</h1>
<ul>${statePageNames.map((name) => html`<li><a href="${PATH}/${name}">${name}</a></li>`)}</ul></main>`,
    script: 'none',
  });
}

async function showState(
  context: StatePagesContext,
  request: FastifyRequest<StateRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { baseUrl, explorerTransactionUrl, token } = context;
  const language = languageOf(request);
  const name = request.params.state;
  const message = Object.hasOwn(messageNames, name) ? messageNames[name] : undefined;
  if (message !== undefined) {
    const page = messagePage({ ...language.words.messages[message], language, isSandbox: true });
    return sendPage(reply, { status: 200, baseUrl, page });
  }
  const { checkout, example } = await checkoutIn(context, name);
  const { problem, moment = null } = example;
  const asks = problem?.error.errorName === 'invalid_request' ? problem.provider : null;
  const page = checkoutPage(checkout, {
    language,
    isSandbox: true,
    ...{ explorerTransactionUrl, token },
    path: `${PATH}/${name}`,
    moment,
    quotes: { askQuote: context.askQuote, lastChoice: null },
    question: asks === null ? null : { provider: asks, chosen: null },
    problem:
      problem === undefined || asks !== null
        ? null
        : problemWords(language, problem.error, problem.provider, checkout),
  });
  return sendPage(reply, { status: 200, baseUrl, page });
}

/** What the page's script asks for: its state does not change. */
async function showStatus(
  context: StatePagesContext,
  request: FastifyRequest<StateRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { checkout } = await checkoutIn(context, request.params.state);
  return reply
    .header('cache-control', 'no-store')
    .send(statusContent(context, checkout, languageOf(request)));
}

async function checkoutIn(
  context: StatePagesContext,
  name: string,
): Promise<{ checkout: Checkout; example: ExampleMoment }> {
  const example = exampleOf(name);
  const examples = createExamplePayments(context.nowMs());
  return {
    checkout: await checkoutOf(context, exampleState(examples, example.state), exampleAccount),
    example,
  };
}

function exampleOf(name: string): ExampleMoment {
  if (isExampleState(name)) return { state: name };
  const moment = Object.hasOwn(exampleMoments, name) ? exampleMoments[name] : undefined;
  if (moment === undefined) throw new ServiceError('not_found');
  return moment;
}
