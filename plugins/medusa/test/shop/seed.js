// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** Gives the shop one product, shipping, a person of the administration, and a key of the storefront. Prints what the test needs. */
const { ProductStatus } = require('@medusajs/framework/utils');
const flows = require('@medusajs/medusa/core-flows');

exports.default = async function seed({ container }) {
  const run = async (name, input) => (await flows[name](container).run({ input })).result;
  const link = container.resolve('link');
  const [channel] = await run('createSalesChannelsWorkflow', { salesChannelsData: [{ name: 'Shop' }] });
  const [region] = await run('createRegionsWorkflow', {
    regions: [
      {
        name: 'Europe',
        currency_code: 'eur',
        countries: ['de'],
        payment_providers: ['pp_card-checkout_default'],
      },
    ],
  });
  const [location] = await run('createStockLocationsWorkflow', { locations: [{ name: 'Stock' }] });
  await link.create({
    stock_location: { stock_location_id: location.id },
    fulfillment: { fulfillment_provider_id: 'manual_manual' },
  });
  const [profile] = await run('createShippingProfilesWorkflow', {
    data: [{ name: 'Default', type: 'default' }],
  });
  const set = await container.resolve('fulfillment').createFulfillmentSets({
    name: 'Delivery',
    type: 'shipping',
    service_zones: [{ name: 'Germany', geo_zones: [{ country_code: 'de', type: 'country' }] }],
  });
  await link.create({
    stock_location: { stock_location_id: location.id },
    fulfillment: { fulfillment_set_id: set.id },
  });
  const [option] = await run('createShippingOptionsWorkflow', [
    {
      name: 'Parcel',
      price_type: 'flat',
      provider_id: 'manual_manual',
      service_zone_id: set.service_zones[0].id,
      shipping_profile_id: profile.id,
      type: { label: 'Parcel', description: 'Three days', code: 'parcel' },
      prices: [{ currency_code: 'eur', amount: 4.9 }],
      rules: [],
    },
  ]);
  const [product] = await run('createProductsWorkflow', {
    products: [
      {
        title: 'Tea',
        status: ProductStatus.PUBLISHED,
        shipping_profile_id: profile.id,
        options: [{ title: 'Size', values: ['100 g'] }],
        variants: [
          {
            title: '100 g',
            options: { Size: '100 g' },
            manage_inventory: false,
            prices: [{ currency_code: 'eur', amount: 12.5 }],
          },
        ],
        sales_channels: [{ id: channel.id }],
      },
    ],
  });
  await run('linkSalesChannelsToStockLocationWorkflow', { id: location.id, add: [channel.id] });
  const [key] = await run('createApiKeysWorkflow', {
    api_keys: [{ title: 'Storefront', type: 'publishable', created_by: '' }],
  });
  await run('linkSalesChannelsToApiKeyWorkflow', { id: key.id, add: [channel.id] });
  const [secret] = await run('createApiKeysWorkflow', {
    api_keys: [{ title: 'Test', type: 'secret', created_by: '' }],
  });
  const seeded = {
    region: region.id,
    variant: product.variants[0].id,
    shipping: option.id,
    channel: channel.id,
  };
  process.stdout.write(`SEEDED ${JSON.stringify({ ...seeded, key: key.token, secret: secret.token })}\n`);
};
