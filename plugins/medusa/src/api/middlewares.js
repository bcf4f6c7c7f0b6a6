// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { defineMiddlewares } from '@medusajs/framework/http';

/** The signature covers the bytes of the body as they came. */
export default defineMiddlewares({
  routes: [{ method: 'POST', matcher: '/hooks/card-checkout', bodyParser: { preserveRawBody: true } }],
});
