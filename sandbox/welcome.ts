import type { Config } from '../src/config/config.ts';
import type { DemoAccount } from './demo-account.ts';
import type { Shop } from './shop/start-shop.ts';
import type { Sandbox } from './start-sandbox.ts';

export interface WelcomeFacts {
  readonly config: Pick<Config, 'baseUrl' | 'adminHost' | 'adminPort' | 'dataDir'>;
  readonly demo: DemoAccount;
  readonly sandbox: Pick<Sandbox, 'anvilUrl' | 'onrampBaseUrl' | 'merchantWallet'>;
  readonly shop: Pick<Shop, 'url' | 'inbox'>;
}

export function welcomeJson({ config, demo, sandbox, shop }: WelcomeFacts): string {
  return `${JSON.stringify({
    base_url: config.baseUrl,
    api_key: demo.apiKey,
    dashboard_url: `${config.baseUrl}/dashboard`,
    dashboard_email: demo.email,
    dashboard_password: demo.password,
    operator_url: `http://${config.adminHost}:${config.adminPort}/operator`,
    account_id: demo.accountId,
    merchant_wallet: sandbox.merchantWallet,
    shop_url: shop.url,
    webhook_callback: shop.inbox.callbackUrl,
    webhooks_url: shop.inbox.pageUrl,
    chain_url: sandbox.anvilUrl,
    onramps_url: sandbox.onrampBaseUrl,
    metrics_url: `http://${config.adminHost}:${config.adminPort}/metrics`,
    data_dir: config.dataDir,
  })}\n`;
}

export function welcome(facts: WelcomeFacts): string {
  const { config, demo, sandbox, shop } = facts;
  const body = JSON.stringify({
    address: sandbox.merchantWallet,
    callback: shop.inbox.callbackUrl,
    amount: '25.00',
  });
  return `
card-checkout sandbox is ready. Nothing here is real money.

  Dashboard       ${config.baseUrl}/dashboard
  Operator        http://${config.adminHost}:${config.adminPort}/operator
  Sign in as      ${demo.email}, password ${demo.password ?? 'as you set it'}
  API             ${config.baseUrl}/api/v1
  API key         ${demo.apiKey}
  Merchant        account ${demo.accountId}, wallet ${sandbox.merchantWallet}
  Shop            ${shop.url} (a demo shop: buy something)
  Webhooks        ${shop.inbox.pageUrl} (for checkouts that you create by hand)
  Documentation   ${config.baseUrl}/docs
  Local chain     ${sandbox.anvilUrl}
  On-ramps        ${sandbox.onrampBaseUrl} (simulated)
  Metrics         http://${config.adminHost}:${config.adminPort}/metrics
  Data            ${config.dataDir} (kept across restarts)

Create a checkout, then open the checkout_url in the response. When it is paid, its webhook appears under Webhooks:

  curl -s ${config.baseUrl}/api/v1/wallet \\
    -H 'Authorization: Bearer ${demo.apiKey}' \\
    -H 'Content-Type: application/json' \\
    -d '${body}'

Or pay from another terminal:

  npx card-checkout sandbox pay PAYMENT_ID

The merchant receives less than $25.00: the on-ramp keeps its fee (MoonPay $3.99, so that 21.01 USDC arrive; others less), and
the demo account's fee of 2.5 % applies to what arrives.

Ctrl-C stops everything.

`;
}
