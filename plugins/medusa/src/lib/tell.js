// @ts-nocheck: plain JavaScript with packages that only its own installation has.

/** Tells the merchant, once for each key: in the log, and in the notifications of Medusa's admin. */
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
