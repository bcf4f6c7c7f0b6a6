import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { AreaRoutes } from './context.ts';
import { type FormFields, readFormFields } from './form-fields.ts';
import { formTokenOf, isOwnForm } from './form-token.ts';
import { type PageContent, plainPage } from './layout.ts';
import { sendDashboardPage } from './page-headers.ts';

/** The token for the forms of a page that needs no session; gives the browser the cookie it goes with. */
export function openFormToken({ cookies }: AreaRoutes, request: FastifyRequest, reply: FastifyReply): string {
  const known = cookies.read(request.headers, 'visitor');
  if (known !== null && /^[A-Za-z0-9_-]{24}$/.test(known)) return formTokenOf(known);
  const made = randomBytes(18).toString('base64url');
  cookies.set(reply, 'visitor', made);
  return formTokenOf(made);
}

/** The fields of a form of ours. Throws `foreign_form` for any other. */
export function readOwnForm({ context, cookies }: AreaRoutes, request: FastifyRequest): FormFields {
  const form = readFormFields(request.body);
  const cookie = cookies.read(request.headers, 'visitor');
  if (!isOwnForm(request, context.baseUrl, form, cookie)) throw new ServiceError('foreign_form');
  return form;
}

/** Answers with a page for who is not signed in. */
export function sendPlainPage(
  { context }: AreaRoutes,
  reply: FastifyReply,
  status: number,
  content: PageContent,
): FastifyReply {
  return sendDashboardPage(reply, status, plainPage(content, { isSandbox: context.isSandbox }));
}
