import type { FastifyInstance } from 'fastify';

/** Of a form; the longest field holds a note. */
const FORM_LIMIT_BYTES = 16 * 1024;

/** Fields as text, which the forms' own reader takes apart. */
export function acceptForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT_BYTES },
    (_request, body, done) => done(null, body),
  );
}
