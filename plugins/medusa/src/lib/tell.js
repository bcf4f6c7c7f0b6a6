// @ts-nocheck: plain JavaScript with packages that only its own installation has.

/** Notifies the merchant once per key, in the log and in Medusa's admin. */
export async function tell({ notification, logger }, key, title, description) {
  logger.warn(`card-checkout: ${title}: ${description}`);
  try {
    await notification.createNotifications({
      to: 'admin',
      channel: 'feed',
      template: 'admin-ui',
      idempotency_key: `card-checkout ${key}`,
      data: { title: `Card checkout: ${title}`, description },
    });
  } catch (error) {
    logger.error(`card-checkout: the notification was not stored: ${error.message}`);
  }
}
