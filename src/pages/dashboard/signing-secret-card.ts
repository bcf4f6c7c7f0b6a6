import { hashSecretToken } from '../../accounts/people-context.ts';
import { keepForNextPage, takeForPage } from '../../accounts/sessions.ts';
import { ServiceError } from '../../payment/errors.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { type Fields, type FormFields, shownOncePage } from '../../web/signed-in/forms.ts';
import {
  type DashboardRoutes,
  type FormHandler,
  type PageView,
  seeOther,
} from '../../web/signed-in/pages.ts';
import { createSigningSecret } from '../../webhooks/webhook-signatures.ts';
import { confirmedForm, requirePasswordAndFactor } from './security-pages.ts';

const CARD_PATH = `${DASHBOARD_PATH}/webhook-check`;
/** Maximum secrets per account: the old and the new one, while a receiver is being updated. */
const MAXIMUM_SECRETS = 2;

const changedSince =
  'The secrets have changed since this page was opened. Nothing was changed now. If you have not seen a secret that was created, remove it.';

type Secrets = Visit['account']['webhookSecrets'];

/** Returns a fingerprint of the secrets shown on a form's page. */
export const markOf = (sealed: Secrets) => hashSecretToken(sealed.join()).slice(0, 16);

export async function signingSecretCard(visit: Visit): Promise<Html> {
  const { webhookSecrets } = visit.account;
  const { length } = webhookSecrets;
  const introduction = html`<input type="hidden" name="secrets" value="${markOf(webhookSecrets)}">`;
  const form = (name: string, button: string, look: '' | 'danger', fields: Fields = {}) =>
    confirmedForm(visit, {
      action: `${CARD_PATH}/${name}`,
      introduction,
      fields,
      button,
      look,
      id: `-${name}`,
    });
  const options = ['older', 'newer'];
  const which = { secret: { label: 'Secret', type: 'select', options, id: 'secret-to-remove' } } as const;
  return html`<section class="card" id="secret"><h2>Standard Webhooks</h2>
<p>With a signing secret, webhooks are signed by <a href="/docs/webhooks#standard-webhooks">Standard Webhooks</a> as well.
${['There is none.', 'There is one.', 'Two sign. Remove the older one when your receiver has the newer one.'][length] ?? ''}</p>
${length < MAXIMUM_SECRETS ? await form('create', length === 0 ? 'Create a secret' : 'Create the next secret', '') : nothing}
${length > 0 ? await form('remove', 'Remove the secret', 'danger', length === 1 ? {} : which) : nothing}</section>`;
}

export function registerSigningSecret(
  routes: DashboardRoutes,
  showCard: (visit: Visit) => Promise<PageView>,
): void {
  const pages = routes.pages('webhooks', 'developer');
  const { accounts, signingSecrets } = routes.context;
  /** Changes the secrets only if the form's page showed the current ones, so that repeated forms change nothing. */
  const change = (visit: Visit, form: FormFields, next: (sealed: Secrets) => Secrets) =>
    accounts.updateAccount(visit.account.id, ({ webhookSecrets: sealed }) => {
      const webhookSecrets = next(sealed);
      if (markOf(sealed) !== form.text('secrets') || webhookSecrets.length > MAXIMUM_SECRETS)
        throw new ServiceError('invalid_request', changedSince);
      return { webhookSecrets };
    });
  const confirmed = (name: string, act: FormHandler) =>
    pages.form(
      `/webhook-check/${name}`,
      async (visit, form) => {
        await requirePasswordAndFactor(visit, form, {});
        return act(visit, form);
      },
      showCard,
    );
  confirmed('create', async (visit, form) => {
    const secret = createSigningSecret();
    const added = signingSecrets.seal(secret, visit.account.id);
    await change(visit, form, (sealed) => [...sealed, added]);
    await record(visit, 'webhook_secret.created');
    await keepForNextPage(visit.context, visit.session.id, 'signing secret', secret);
    return seeOther('/webhook-check/created');
  });
  pages.page('/webhook-check/created', async (visit) => {
    const secret = await takeForPage(visit.context, visit.session.id, 'signing secret');
    if (secret === null) return seeOther('/webhook-check');
    return shownOncePage('Your new signing secret', secret, `${CARD_PATH}#secret`);
  });
  confirmed('remove', async (visit, form) => {
    await change(visit, form, (sealed) => sealed.toSpliced(form.text('secret') === 'newer' ? 1 : 0, 1));
    await record(visit, 'webhook_secret.removed');
    return seeOther('/webhook-check');
  });
}
