// @ts-nocheck: plain JavaScript with packages that only its own installation has.
const { defineConfig } = require('@medusajs/framework/utils');

const { CARD_CHECKOUT_URL, CARD_CHECKOUT_KEY, CARD_CHECKOUT_WEBHOOK_SECRET, CALLBACK_URL, SHOP_URL } =
  process.env;

module.exports = defineConfig({
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    http: {
      storeCors: SHOP_URL,
      adminCors: SHOP_URL,
      authCors: SHOP_URL,
      jwtSecret: 'test',
      cookieSecret: 'test',
    },
  },
  admin: { disable: true },
  plugins: [
    {
      resolve: '@card-checkout/medusa',
      options: {
        url: CARD_CHECKOUT_URL,
        apiKey: CARD_CHECKOUT_KEY,
        webhookSecret: CARD_CHECKOUT_WEBHOOK_SECRET,
        callback: CALLBACK_URL,
        returnUrl: `${SHOP_URL}/return?cart={cart_id}`,
      },
    },
  ],
  modules: [
    {
      resolve: '@medusajs/medusa/payment',
      ...(process.env.DEPENDENCIES === 'none'
        ? {}
        : { dependencies: ['cardCheckout', 'query', 'notification'] }),
      options: { providers: [{ resolve: '@card-checkout/medusa/provider', id: 'default' }] },
    },
  ],
});
