import { formatCents, formatUnits } from '../../payment/money.ts';
import type { Payment } from '../../payment/payment.ts';
import type { PaymentSlot } from '../../payment/payment-statistics.ts';
import { textWithoutEmail } from '../../payment/redact-email.ts';
import {
  type NotificationEvent,
  notificationEvents,
  type PaymentNotification,
} from './notification-channel.ts';

export interface NotificationMessage {
  /** Title without text from third parties. */
  readonly title: string;
  readonly lines: readonly MessageLine[];
  readonly url: string;
}

export interface MessageLine {
  readonly text: string;
  /** Text from a merchant or customer, which channels must not interpret as markup; null if absent. */
  readonly quoted: string | null;
}

export interface PaymentNews {
  readonly through: number;
  readonly counts: ReadonlyMap<PaymentNotification, number>;
  readonly newest: readonly { readonly event: PaymentNotification; readonly payment: Payment }[];
}

export const NAMED_PAYMENTS = 5;
const QUOTED_CHARACTERS = 80;
const LATE_ADVICE =
  'The deposit arrived after the payment was canceled or had expired. Release or return it in the dashboard.';

interface MessagePlace {
  readonly shop: string;
  readonly dashboardUrl: string;
}

/** Composes a message about payments. Omits email addresses, because erasure could not remove them from the channel. */
export function paymentMessage({ counts, newest }: PaymentNews, place: MessagePlace): NotificationMessage {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const [first] = newest;
  const isOne = total === 1 && first !== undefined;
  const parts = [...counts].map(([event, count]) => `${count} ${notificationEvents[event].toLowerCase()}`);
  const more = total - newest.length;
  return {
    title: isOne ? titleOf(first.event) : `${total} payments: ${parts.join(', ')}`,
    lines: [
      shopLine(place),
      ...newest.map(paymentLine),
      ...(more > 0 ? [plain(`and ${more} more`)] : []),
      ...(counts.has('late_money') ? [plain(LATE_ADVICE)] : []),
    ],
    url: isOne ? `${place.dashboardUrl}/payments/${first.payment.id}` : `${place.dashboardUrl}/payments`,
  };
}

function titleOf(event: PaymentNotification): string {
  return event === 'late_money'
    ? 'Late deposit for a payment'
    : `Payment ${notificationEvents[event].toLowerCase()}`;
}

function paymentLine({ event, payment }: PaymentNews['newest'][number]): MessageLine {
  const { amountCents, currency, receivedUnits, orderLine, note, email } = payment;
  const written = orderLine ?? note;
  return {
    text: `${notificationEvents[event]}: ${formatCents(amountCents)} ${currency}, ${formatUnits(receivedUnits)} USDC received`,
    quoted: written === null ? null : quote(email === null ? written : textWithoutEmail(written, email, '…')),
  };
}

type DailySum = Pick<PaymentSlot, 'paid' | 'receivedUnits' | 'feeUnits'> & {
  readonly date: string;
  readonly timeZone: string;
  readonly paidCents: ReadonlyMap<string, number>;
};

export function dailyMessage(day: DailySum, place: MessagePlace): NotificationMessage {
  const { date, timeZone, paid, paidCents, receivedUnits, feeUnits } = day;
  const charged = [...paidCents].map(([currency, cents]) => `${formatCents(cents)} ${currency}`);
  const [received, fees, net] = [receivedUnits, feeUnits, receivedUnits - feeUnits].map((units) =>
    formatUnits(BigInt(units)),
  );
  const sums = [
    plain(`${paid} ${paid === 1 ? 'payment' : 'payments'} paid: ${charged.join(', ')}`),
    plain(`Received ${received} USDC, fees ${fees} USDC, net ${net} USDC`),
  ];
  return {
    title: `Daily summary of ${date} (${timeZone})`,
    lines: [shopLine(place), ...(paid === 0 ? [plain('No payment was paid.')] : sums)],
    url: place.dashboardUrl,
  };
}

export function testMessage(events: readonly NotificationEvent[], place: MessagePlace): NotificationMessage {
  const names = events.map((event) => notificationEvents[event].toLowerCase());
  return {
    title: 'Test message',
    lines: [shopLine(place), plain(`This channel is notified of: ${names.join(', ')}.`)],
    url: `${place.dashboardUrl}/notifications`,
  };
}

function shopLine({ shop }: MessagePlace): MessageLine {
  return { text: 'Shop', quoted: quote(shop) };
}

function plain(text: string): MessageLine {
  return { text, quoted: null };
}

/** Shortens a text to one line and removes control characters and bidirectional marks. */
function quote(text: string): string {
  const characters = [...text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()];
  return characters.length <= QUOTED_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, QUOTED_CHARACTERS - 1).join('')}…`;
}
