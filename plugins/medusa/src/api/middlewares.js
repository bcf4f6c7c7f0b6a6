// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { defineMiddlewares } from '@medusajs/framework/http';

/** The signature covers the raw body. */
export default defineMiddlewares({
  routes: [{ method: 'POST', matcher: '/hooks/card-checkout', bodyParser: { preserveRawBody: true } }],
});
