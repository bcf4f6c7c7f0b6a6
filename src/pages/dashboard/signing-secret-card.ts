import { keepForNextPage, takeForPage } from '../../accounts/sessions.ts';
import { ServiceError } from '../../payment/errors.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { shownOncePage } from '../../web/signed-in/forms.ts';
import { type DashboardRoutes, type PageView, seeOther } from '../../web/signed-in/pages.ts';
import { createSigningSecret } from '../../webhooks/signing-secrets.ts';
import { confirmedForm, requirePasswordAndFactor } from './security-pages.ts';

const CARD_PATH = `${DASHBOARD_PATH}/webhook-check`;
/** Maximum secrets of an account: the old and the new one while a receiver changes. */
const MAXIMUM_SECRETS = 2;

export async function signingSecretCard(visit: Visit): Promise<Html> {
  const { length } = visit.account.webhookSecrets;
  const form = (name: string, button: string) =>
    confirmedForm(visit, { action: `${CARD_PATH}/${name}`, button, id: `-${name}` });
  return html`<section class="card" id="secret"><h2>Standard Webhooks</h2>
<p>With a signing secret, webhooks are signed by <a href="/docs/webhooks#standard-webhooks">Standard Webhooks</a> as well.
${['There is none.', 'There is one.', 'Two sign. Remove the older one when your receiver has the new one.'][length] ?? ''}</p>
${length < MAXIMUM_SECRETS ? await form('create', length === 0 ? 'Create a secret' : 'Create the next secret') : nothing}
${length > 0 ? await form('remove', length === 1 ? 'Remove the secret' : 'Remove the older secret') : nothing}</section>`;
}

export function registerSigningSecret(
  routes: DashboardRoutes,
  showCard: (visit: Visit) => Promise<PageView>,
): void {
  const pages = routes.pages('webhooks', 'developer');
  const { accounts, signingSecrets } = routes.context;
  pages.form(
    '/webhook-check/create',
    async (visit, form) => {
      await requirePasswordAndFactor(visit, form, {});
      const { id } = visit.account;
      const secret = createSigningSecret();
      await accounts.updateAccount(id, ({ webhookSecrets: sealed }) => {
        if (sealed.length >= MAXIMUM_SECRETS)
          throw new ServiceError('invalid_request', 'There are two secrets.');
        return { webhookSecrets: [...sealed, signingSecrets.seal(secret, id)] };
      });
      await record(visit, 'webhook_secret.created');
      await keepForNextPage(visit.context, visit.session.id, 'signing secret', secret);
      return seeOther('/webhook-check/created');
    },
    showCard,
  );
  pages.page('/webhook-check/created', async (visit) => {
    const secret = await takeForPage(visit.context, visit.session.id, 'signing secret');
    if (secret === null) return seeOther('/webhook-check');
    return shownOncePage('Your new signing secret', secret, `${CARD_PATH}#secret`);
  });
  pages.form(
    '/webhook-check/remove',
    async (visit, form) => {
      await requirePasswordAndFactor(visit, form, {});
      await accounts.updateAccount(visit.account.id, ({ webhookSecrets: [, ...newer] }) => ({
        webhookSecrets: newer,
      }));
      await record(visit, 'webhook_secret.removed');
      return seeOther('/webhook-check');
    },
    showCard,
  );
}
