import { expect, it } from 'vitest';
import { type WelcomeFacts, welcome, welcomeJson } from './welcome.ts';

const facts: WelcomeFacts = {
  config: { baseUrl: 'http://localhost:3000', adminHost: '127.0.0.1', adminPort: 3001, dataDir: './data' },
  demo: {
    accountId: 'acc_1',
    apiKey: 'service_live_example',
    email: 'demo@shop.example',
    password: 'example-password',
  },
  sandbox: {
    anvilUrl: 'http://127.0.0.1:8545',
    onrampBaseUrl: 'http://127.0.0.1:9000',
    merchantWallet: '0x52908400098527886E0F7030069857D2E4169EE7',
  },
  shop: {
    url: 'http://127.0.0.1:9001',
    inbox: { callbackUrl: 'https://127.0.0.1:9002/inbox', pageUrl: 'http://127.0.0.1:9001/webhooks' },
  },
};

it('shows a person the way into the dashboard, the key, a create call that is complete, and how to pay', () => {
  const text = welcome(facts);
  expect(text).toContain('http://localhost:3000/dashboard');
  expect(text).toContain('demo@shop.example, password example-password');
  expect(text).toContain("-H 'Authorization: Bearer service_live_example'");
  const body = /-d '(.+)'/.exec(text)?.[1] ?? '';
  expect(JSON.parse(body)).toMatchObject({
    address: facts.sandbox.merchantWallet,
    callback: facts.shop.inbox.callbackUrl,
    amount: '25.00',
  });
  expect(text).toContain('http://127.0.0.1:9001/webhooks');
  expect(text).toContain('npx card-checkout sandbox pay PAYMENT_ID');
});

it('tells a program the same on one line of JSON', () => {
  const line = welcomeJson(facts);
  expect(line.endsWith('}\n')).toBe(true);
  expect(JSON.parse(line)).toEqual({
    base_url: 'http://localhost:3000',
    api_key: 'service_live_example',
    dashboard_url: 'http://localhost:3000/dashboard',
    dashboard_email: 'demo@shop.example',
    dashboard_password: 'example-password',
    operator_url: 'http://127.0.0.1:3001/operator',
    account_id: 'acc_1',
    merchant_wallet: facts.sandbox.merchantWallet,
    shop_url: 'http://127.0.0.1:9001',
    webhook_callback: 'https://127.0.0.1:9002/inbox',
    webhooks_url: 'http://127.0.0.1:9001/webhooks',
    chain_url: 'http://127.0.0.1:8545',
    onramps_url: 'http://127.0.0.1:9000',
    metrics_url: 'http://127.0.0.1:3001/metrics',
    data_dir: './data',
  });
});
