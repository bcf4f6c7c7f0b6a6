import { recordAction } from '../../accounts/people-context.ts';
import { updateAccount } from '../../accounts/update-account.ts';
import { invalidField } from '../../domain/errors.ts';
import { MAXIMUM_LOGO_BYTES, MAXIMUM_LOGO_PIXELS } from '../../domain/shop-logo.ts';
import { type Html, html, nothing } from '../design/html.ts';
import type { DashboardContext, DashboardRoutes } from './context.ts';
import { type DashboardAnswer, type DashboardView, seeOther } from './dashboard-page.ts';
import { collectFieldErrors, type FieldErrors } from './field-errors.ts';
import { describedBy, notesOf } from './fields.ts';
import type { FormFields } from './form-fields.ts';
import { formTokenField } from './form-token.ts';
import { DASHBOARD_PATH } from './sections.ts';
import { dashboardUpload } from './upload-form.ts';
import type { Visit } from './visit.ts';

const counts = new Intl.NumberFormat('en');

/** The shop's picture; what is refused is shown on the page that `showAgain` makes. */
export function registerLogoForm(
  routes: DashboardRoutes,
  showAgain: (visit: Visit, errors: FieldErrors) => DashboardView,
): void {
  dashboardUpload(routes, {
    path: '/settings/logo',
    section: 'settings',
    role: 'owner',
    maximumFileBytes: MAXIMUM_LOGO_BYTES,
    act: async (visit, form, file) => {
      let answer: DashboardAnswer | undefined;
      const errors = await collectFieldErrors({
        logo: async () => {
          answer = await changeLogo(routes.context, visit, form, file);
        },
      });
      return answer ?? { ...showAgain(visit, errors), status: 400 };
    },
  });
}

/** The picture is judged by its bytes alone; what the browser calls it says nothing. */
async function changeLogo(
  context: DashboardContext,
  visit: Visit,
  form: FormFields,
  file: Uint8Array,
): Promise<DashboardAnswer> {
  const isRemoved = form.has('remove');
  if (!isRemoved && file.length === 0) throw invalidField('logo', 'is missing: choose a picture');
  const account = await updateAccount(context, visit.account.id, {
    profile: { logo: isRemoved ? null : file },
  });
  const what = isRemoved ? 'took the logo away' : `logo ${account.logoHash}`;
  await recordAction(context, account.id, visit.actor, 'settings.changed', what);
  return seeOther('/settings?said=saved');
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
