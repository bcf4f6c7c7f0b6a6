import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { updateAccount } from '../../accounts/manage-accounts.ts';
import { recordAction } from '../../accounts/people-context.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { MAXIMUM_LOGO_BYTES, MAXIMUM_LOGO_PIXELS } from '../../domain/shop-profile.ts';
import { type Html, html, nothing } from '../design/html.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import {
  describedBy,
  type FormFields,
  formTokenField,
  notesOf,
  readFormFields,
  requireOwnForm,
} from '../signed-in/forms.ts';
import { dashboardPages, type PageAnswer, type PageView, seeOther } from '../signed-in/signed-in-page.ts';
import { collectFieldErrors, type FieldErrors } from './field-errors.ts';

const counts = new Intl.NumberFormat('en');

/**
 * The shop's logo; errors appear on the page that `showAgain` renders. The form has its own scope, because no other form
 * accepts files.
 */
export function registerLogoForm(
  routes: DashboardRoutes,
  showAgain: (visit: Visit, errors: FieldErrors) => PageView,
): void {
  const { context, cookies } = routes;
  const pages = dashboardPages(routes, 'settings', 'owner');
  routes.server.register((scope, _options, done) => {
    scope.register(multipart, { throwFileSizeLimit: false, limits: uploadLimits });
    scope.post('/settings/logo', (request, reply) =>
      pages.answer(request, reply, async (visit) => {
        requireLength(request, MAXIMUM_LOGO_BYTES + MAXIMUM_OTHER_BYTES);
        const { form, file } = await readParts(request);
        requireOwnForm(request, context.baseUrl, form, cookies.read(request.headers, 'session'));
        let answer: PageAnswer | undefined;
        const errors = await collectFieldErrors({
          logo: async () => {
            answer = await changeLogo(context, visit, form, file);
          },
        });
        return answer ?? { ...showAgain(visit, errors), status: 400 };
      }),
    );
    done();
  });
}

/** Validates the picture by its bytes alone; the browser's type is ignored. */
async function changeLogo(
  context: DashboardContext,
  visit: Visit,
  form: FormFields,
  file: Uint8Array,
): Promise<PageAnswer> {
  const isRemoved = form.has('remove');
  if (!isRemoved && file.length === 0) throw invalidField('logo', 'is missing: choose an image');
  const account = await updateAccount(context, visit.account.id, {
    profile: { logo: isRemoved ? null : file },
  });
  const what = isRemoved ? 'removed the logo' : `logo ${account.logoHash}`;
  await recordAction(context, account.id, visit.actor, 'settings.changed', what);
  return seeOther('/settings?flash=saved');
}

export function logoForm({ account, formToken }: Visit, error?: string): Html {
  const { logoHash } = account;
  const hint = `PNG, JPEG or WebP, at most ${MAXIMUM_LOGO_BYTES / 1024} KiB and ${counts.format(MAXIMUM_LOGO_PIXELS)} pixels wide and high.`;
  return html`<form class="card" method="post" action="${DASHBOARD_PATH}/settings/logo" enctype="multipart/form-data"><h2>Logo</h2>${formTokenField(formToken)}
${logoHash === null ? html`<p>Your shop has none yet.</p>` : html`<p><img class="logo" src="/logos/${logoHash}" alt="Your logo as customers see it"></p>`}
<div class="field"><label for="logo">Picture</label><input id="logo" name="logo" type="file" accept="image/png,image/jpeg,image/webp"${describedBy('logo', { hint, error })}>
${notesOf('logo', { hint, error })}</div>
<div class="actions"><button class="button primary">Save logo</button>${logoHash === null ? nothing : html`<button class="button" name="remove" value="1">Take it away</button>`}</div></form>`;
}

/** The size of the fields and the multipart framing. */
const MAXIMUM_OTHER_BYTES = 16 * 1024;
const MAXIMUM_FIELDS = 5;
const MAXIMUM_FIELD_BYTES = 4_000;

const uploadLimits = {
  files: 1,
  // One byte more than allowed, so that `changeLogo` detects a file that is too large.
  fileSize: MAXIMUM_LOGO_BYTES + 1,
  headerPairs: 20,
  fields: MAXIMUM_FIELDS,
  fieldSize: MAXIMUM_FIELD_BYTES,
  fieldNameSize: 100,
  parts: MAXIMUM_FIELDS + 1,
};

/** Checked before the body is read: browsers send the length of a form. */
function requireLength(request: FastifyRequest, maximumBytes: number): void {
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (!(length <= maximumBytes)) throw new ServiceError('payload_too_large', 'The file is too large.');
}

/** Runs only for signed-in users: the parts are read after all other checks. */
async function readParts(
  request: FastifyRequest,
): Promise<{ readonly form: FormFields; readonly file: Uint8Array }> {
  const fields = new URLSearchParams();
  let file: Uint8Array = new Uint8Array();
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') file = await part.toBuffer();
      else fields.append(part.fieldname, String(part.value));
    }
  } catch (error) {
    // The limits of the library have a status; the parser's errors about a broken body have none.
    if (error instanceof Error && 'statusCode' in error) throw error;
    throw new ServiceError('invalid_request', 'The form is incomplete or malformed.', { cause: error });
  }
  return { form: readFormFields(fields.toString()), file };
}
