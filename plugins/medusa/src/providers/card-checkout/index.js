// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { MedusaError, ModuleProvider, Modules } from '@medusajs/framework/utils';
import CardCheckoutProvider from './service.js';

const NEEDED = ['cardCheckout', 'query', 'notification'];

/** Throws unless the provider has access to the shop, which requires an entry in the payment module's configuration. */
function requireDependencies({ container }) {
  const missing = NEEDED.filter((name) => !container.hasRegistration(name));
  if (missing.length === 0) return;
  throw new MedusaError(
    MedusaError.Types.INVALID_DATA,
    `@card-checkout/medusa has no access to ${missing.join(', ')}. In medusa-config, in the entry of modules with resolve: ` +
      `'@medusajs/medusa/payment', add dependencies: [${NEEDED.map((name) => `'${name}'`).join(', ')}]`,
  );
}

export default ModuleProvider(Modules.PAYMENT, {
  services: [CardCheckoutProvider],
  loaders: [requireDependencies],
});
