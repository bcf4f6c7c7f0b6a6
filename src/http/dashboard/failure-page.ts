import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceError } from '../../domain/errors.ts';
import { html } from '../design/html.ts';
import { serviceErrorOf } from '../error-reply.ts';
import type { DashboardRoutes } from './context.ts';
import { type PageContent, plainPage, signedInPage } from './layout.ts';
import { sendDashboardPage } from './page-headers.ts';
import { DASHBOARD_PATH, type Section } from './sections.ts';
import type { Visit } from './visit.ts';

/** A failure as a page: within the dashboard for who has come in, else alone. What is ours to repair is logged only. */
export function sendFailure(
  { context, shown }: Pick<DashboardRoutes, 'context' | 'shown'>,
  section: Section | null,
  request: FastifyRequest,
  reply: FastifyReply,
  visit: Visit | null,
  thrown: unknown,
): FastifyReply {
  const error = serviceErrorOf(thrown);
  if (error.status >= 500) request.log.error({ err: thrown }, 'a page of the dashboard failed');
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds));
  const content = failureContent(error, DASHBOARD_PATH);
  const { isSandbox } = context;
  const page =
    visit === null
      ? plainPage(content, { isSandbox })
      : signedInPage(content, visit, { isSandbox, section, shown });
  return sendDashboardPage(reply, error.status, page);
}

/** What a failure says; `path` is that of the area, which it leads back to. */
export function failureContent(error: ServiceError, path: string): PageContent {
  const { title, sentence } = wordsOf(error);
  return {
    title,
    main: html`<p>${sentence}</p><p><a class="button" href="${path}">Back to the beginning</a></p>`,
  };
}

function wordsOf(error: ServiceError): { readonly title: string; readonly sentence: string } {
  switch (error.errorName) {
    case 'role_too_small':
      return {
        title: 'Your role does not allow this',
        sentence: 'Ask an owner of the account to do it, or to give you another role.',
      };
    case 'foreign_form':
      return {
        title: 'Nothing was done',
        sentence:
          'The form did not come from a page that this browser was shown, or you have signed in anew since. Please open the page again. Your browser has to accept cookies.',
      };
    case 'rate_limited':
      return { title: 'Too many requests', sentence: error.message };
    default:
  }
  if (error.status === 404) {
    return {
      title: 'There is nothing here',
      sentence: 'The address may be incomplete, or what was here belongs to another account.',
    };
  }
  if (error.status < 500) return { title: 'That did not work', sentence: error.message };
  return { title: 'Something went wrong on our side', sentence: 'Please try again in a moment.' };
}
