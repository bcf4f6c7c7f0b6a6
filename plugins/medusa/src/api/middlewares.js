// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { defineMiddlewares } from '@medusajs/framework/http';

/** Middleware that keeps the raw body, which the signature covers. */
export default defineMiddlewares({
  routes: [{ method: 'POST', matcher: '/hooks/card-checkout', bodyParser: { preserveRawBody: true } }],
});
