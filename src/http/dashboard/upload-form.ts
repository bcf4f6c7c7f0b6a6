import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { DashboardRoutes } from './context.ts';
import { type DashboardAnswer, type Route, sendAnswer, withVisit } from './dashboard-page.ts';
import { type FormFields, readFormFields } from './form-fields.ts';
import { isOwnForm } from './form-token.ts';
import type { Visit } from './visit.ts';

/** Fields and the wrapping of the parts. */
const MAXIMUM_OTHER_BYTES = 16 * 1024;
const MAXIMUM_FIELDS = 5;
const MAXIMUM_FIELD_BYTES = 4_000;

/** What a form with a file does: `POST`. In a scope of its own, as no other form takes files. */
export function dashboardUpload(
  routes: DashboardRoutes,
  route: Route & {
    /** One byte more of the file is read, so that `act` sees that it is too large. */
    readonly maximumFileBytes: number;
    readonly act: (visit: Visit, form: FormFields, file: Uint8Array) => Promise<DashboardAnswer>;
  },
): void {
  routes.server.register((scope, _options, done) => {
    scope.register(multipart, {
      throwFileSizeLimit: false,
      limits: {
        ...{ files: 1, fileSize: route.maximumFileBytes + 1, headerPairs: 20 },
        ...{ fields: MAXIMUM_FIELDS, fieldSize: MAXIMUM_FIELD_BYTES, fieldNameSize: 100 },
        parts: MAXIMUM_FIELDS + 1,
      },
    });
    scope.post(route.path, (request, reply) =>
      withVisit(routes, route, request, reply, async (visit) => {
        requireLength(request, route.maximumFileBytes + MAXIMUM_OTHER_BYTES);
        const { form, file } = await readParts(request);
        const cookie = routes.cookies.read(request.headers, 'session');
        if (!isOwnForm(request, routes.context.baseUrl, form, cookie)) throw new ServiceError('foreign_form');
        return sendAnswer(routes, route, reply, visit, await route.act(visit, form, file));
      }),
    );
    done();
  });
}

/** Before anything is read: browsers say how long a form is. */
function requireLength(request: FastifyRequest, maximumBytes: number): void {
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (!(length <= maximumBytes)) throw new ServiceError('payload_too_large', 'The file is too large.');
}

/** Only who has come in gets here: the parts are read after everything else was judged. */
async function readParts(
  request: FastifyRequest,
): Promise<{ readonly form: FormFields; readonly file: Uint8Array }> {
  const fields = new URLSearchParams();
  let file: Uint8Array = new Uint8Array();
  for await (const part of request.parts()) {
    if (part.type === 'file') file = await part.toBuffer();
    else fields.append(part.fieldname, String(part.value));
  }
  return { form: readFormFields(fields.toString()), file };
}
