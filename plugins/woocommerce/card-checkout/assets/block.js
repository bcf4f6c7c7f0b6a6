// Payment method for WooCommerce's checkout blocks. The server does the rest, as in the classic checkout.
(() => {
  // Globals of WordPress and WooCommerce.
  const { wc, wp } = /** @type {any} */ (globalThis);
  const settings = wc.wcSettings.getSetting('card_checkout_data', {});
  const { createElement } = wp.element;
  // Shown as text, never as markup.
  const title = wp.htmlEntities.decodeEntities(settings.title || 'Card');
  const description = wp.htmlEntities.decodeEntities(settings.description || '');
  const content = createElement('p', null, description);

  wc.wcBlocksRegistry.registerPaymentMethod({
    name: 'card_checkout',
    label: createElement('span', null, title),
    ariaLabel: title,
    content,
    edit: content,
    canMakePayment: () => true,
    supports: { features: settings.supports || ['products'] },
  });
})();
