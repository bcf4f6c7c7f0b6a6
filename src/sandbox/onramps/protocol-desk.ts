import { usdUnits } from '../../domain/money.ts';
import { assumedDeliveryUnits, providerCatalogue } from '../../domain/provider-catalogue.ts';
import { createFixedRates } from '../../rates/create-fixed-rates.ts';
import { renderNoticePage } from './onramp-pages.ts';
import { openOrder } from './open-order.ts';
import type { OrderStore } from './order-store.ts';
import type { ProtocolDesk } from './protocols/simulated-protocol.ts';
import { sendPage } from './register-page-routes.ts';

/** What a simulated protocol stands on: the books, the prices, the pages. */
export function createProtocolDesk(
  options: Pick<
    ProtocolDesk,
    'provider' | 'values' | 'derive' | 'isImpostor' | 'nowMs' | 'url' | 'noticesUrl'
  > & {
    readonly store: OrderStore;
  },
): ProtocolDesk {
  const { provider, store, nowMs } = options;
  // Its own: that the shop has no rates at the moment is no concern of a provider.
  const rates = createFixedRates();
  return {
    ...options,
    quoteUnits: async (amountCents, currency) =>
      assumedDeliveryUnits(provider, usdUnits(amountCents, await rates.usdRate(currency))),
    openOrder: (order) => openOrder(store, { ...order, provider }, nowMs()),
    findOrder: (id) => store.findOrder(id),
    showOrder: (reply, order) => reply.redirect(`/${provider}/pay/${order.id}`, 303),
    refuseCustomer: (reply, status, reason) =>
      sendPage(
        reply,
        status,
        renderNoticePage(`${providerCatalogue[provider].name} (simulated) refuses this`, reason),
      ),
  };
}
