import { formTokenIn } from '../../support/dashboard.ts';
import { drawSecret } from './canaries.ts';
import type { RawAnswer } from './raw-exchange.ts';
import type { Merchant, Stage } from './stage.ts';

const OWN_PATH = '/dashboard/notifications';

/**
 * A member adds a channel of each chat and looks at the list. The addresses and tokens are canaries from then on, and so
 * are the password and the session. The channels are paused: nothing is sent to the chats.
 */
export async function addChannels(stage: Stage, { accountId }: Merchant): Promise<void> {
  const draw = (name: string, characters: number): string => {
    const secret = drawSecret(stage.random, characters);
    stage.search.add({ name, kind: 'key', secret });
    return secret;
  };
  const browser = await signIn(stage, accountId);
  const targets = {
    slack: {
      slack_url: `https://hooks.slack.com/services/T00000001/B00000002/${draw('URL of a Slack channel', 24)}`,
    },
    discord: {
      discord_url: `https://discord.com/api/webhooks/123456789012345678/${draw('URL of a Discord channel', 64)}`,
    },
    telegram: {
      telegram_token: `123456789:${draw('token of a Telegram bot', 35)}`,
      telegram_chat: '-1001234567890',
    },
  };
  for (const [kind, target] of Object.entries(targets)) {
    const added = await browser.post(`${OWN_PATH}/add/${kind}`, { ...target, late_money: '1' });
    if (added.status !== 303) throw new Error(`adding ${kind} answered ${added.status}`);
  }
  const list = (await browser.get(OWN_PATH)).body;
  const ids = new Set([...list.matchAll(/notifications\/(ntf_\w+)\/pause/g)].map(([, id]) => id as string));
  if (ids.size !== 3) throw new Error(`the list has ${ids.size} channels: it was not searched`);
  for (const id of ids) {
    const paused = await browser.post(`${OWN_PATH}/${id}/pause`, { pause: '1' }, OWN_PATH);
    if (paused.status !== 303) throw new Error(`pausing answered ${paused.status}`);
  }
}

/** A member of the account with a password, in a browser. */
async function signIn(stage: Stage, accountId: string) {
  const { password_link: link } = await stage.command<{ password_link: string }>('user create', {
    account: accountId,
    role: 'viewer',
    email: 'viewer@shop.example',
  });
  const browser = openBrowser(stage);
  const { pathname } = new URL(link);
  const password = drawSecret(stage.random);
  stage.search.add({ name: 'password of a member', kind: 'key', secret: password });
  const opened = await browser.post(pathname, { new_password: password });
  if (opened.status !== 303) throw new Error(`setting a password answered ${opened.status}`);
  stage.search.add({
    name: 'token of a used link',
    kind: 'token',
    secret: pathname.split('/').at(-1) as string,
  });
  for (const [name, value] of browser.cookies) {
    if (name.endsWith('session'))
      stage.search.add({ name: 'dashboard session', kind: 'token', secret: value });
  }
  return browser;
}

function openBrowser({ ask, environment }: Stage) {
  const cookies = new Map<string, string>();
  const origin = environment['BASE_URL'] as string;
  const headersOf = (more: Record<string, string> = {}) => ({
    Cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
    ...more,
  });
  const keep = (answer: RawAnswer) => {
    for (const [, name, value] of answer.comparable.matchAll(/^set-cookie: ([^=]+)=([^;]*)/gim))
      cookies.set(name as string, value as string);
    return answer;
  };
  const get = async (path: string) => keep(await ask({ method: 'GET', path, headers: headersOf() }));
  return {
    cookies,
    get,
    async post(path: string, fields: Readonly<Record<string, string>>, page = path): Promise<RawAnswer> {
      const form_token = formTokenIn((await get(page)).body);
      const headers = headersOf({
        'content-type': 'application/x-www-form-urlencoded',
        origin,
        'sec-fetch-site': 'same-origin',
      });
      const body = new URLSearchParams({ ...fields, form_token }).toString();
      return keep(await ask({ method: 'POST', path, headers, body }));
    },
  };
}
