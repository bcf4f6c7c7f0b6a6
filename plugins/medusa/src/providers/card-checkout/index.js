// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { ModuleProvider, Modules } from '@medusajs/framework/utils';
import CardCheckoutProvider from './service.js';

export default ModuleProvider(Modules.PAYMENT, { services: [CardCheckoutProvider] });
