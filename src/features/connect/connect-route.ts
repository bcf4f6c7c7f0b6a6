import { keyScopes } from '../../accounts/api-key.ts';
import * as json from '../../api/json-schema.ts';
import { required } from '../../api/merchant/merchant-parameters.ts';
import type { MerchantRoutes } from '../../api/merchant/merchant-routes.ts';
import { operation } from '../../api/openapi/operations.ts';
import { readParameters } from '../../api/request-input.ts';
import { addressGroupOf, enforceRateLimit } from '../../web/rate-windows.ts';
import { type ConnectContext, exchangeCode } from './connect-shop.ts';

const connectParameters = {
  code: required({ type: 'string', maxLength: 2_000 }, 'The `code` that came back to your shop.', 'pXk2…'),
  code_verifier: required(
    { type: 'string', pattern: '^[A-Za-z0-9._~-]{43,128}$' },
    'The secret whose SHA-256 is the `code_challenge`.',
    'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  ),
  return: required(
    { type: 'string', maxLength: 500 },
    'The `return` of the connection, as the browser was sent here with it.',
    'https://shop.example/connected',
  ),
};

const connectionSchema = json.object({
  api_key: json.text('The API key. It is shown only here.', 'service_live_…'),
  key_id: json.text("The key's id.", 'key_5b484cd3e9340db05b48'),
  scopes: json.list('What the key may do.', json.word(keyScopes), ['create', 'read']),
  callback_host: json.textOrNull('The only host that callbacks may name, or null for any.', 'shop.example'),
  account_id: json.text("The account's id.", 'acc_5b484cd3e9340db05b48'),
  account_name: json.text("The account's name.", 'Example shop'),
  wallet: json.textOrNull("The account's payout wallet, or null.", null),
});

export const describedConnect = {
  operations: [
    operation('post /merchant/v1/connect', {
      id: 'connectShop',
      summary: 'Exchange the code of a connection for an API key',
      description:
        'The last step of connecting a shop: server to server, within 60 seconds, once. Requests count against the address.',
      needsKey: false,
      body: 'ConnectShop',
      answer: 'Connection',
      errors: ['connect_code_invalid', 'too_many_keys'],
    }),
  ],
  bodies: { ConnectShop: connectParameters },
  schemas: {
    ConnectShop: { ...json.bodyOf(connectParameters), additionalProperties: false },
    Connection: connectionSchema,
  },
};

/** Registers `POST /connect`, with a rate limit by IP address, because the shop has no API key yet. */
export function registerConnect({ server, limits }: MerchantRoutes, context: ConnectContext): void {
  server.post('/connect', async (request, reply) => {
    const address = addressGroupOf(request.ip);
    await enforceRateLimit(limits.unauthenticated, address);
    const {
      code,
      code_verifier: codeVerifier,
      return: returnUrl,
    } = readParameters(request, connectParameters);
    const connected = await exchangeCode(context, { code, codeVerifier, returnUrl, address });
    const { key, plainKey, account } = connected;
    return reply.header('cache-control', 'no-store').send({
      api_key: plainKey,
      key_id: key.id,
      scopes: key.scopes,
      callback_host: key.callbackHost,
      account_id: account.id,
      account_name: account.name,
      wallet: account.wallet,
    } satisfies json.ValueOf<typeof connectionSchema>);
  });
}
