import { type AddressBook, createAddressBook } from '../domain/address-book.ts';
import type { Payment } from '../domain/payment.ts';
import type { Address } from '../domain/payout-address.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';

/** The deposit addresses of all payments, kept in memory and filled from the store. */
export interface KnownAddresses {
  readonly book: AddressBook;
  /** Takes in all payments created since the last call. */
  catchUp(): Promise<void>;
  /** The payment of a deposit address, or null when it is none of ours. */
  findPayment(depositAddress: string): Promise<Payment | null>;
}

const PAGE_SIZE = 10_000;

export function createKnownAddresses(payments: PaymentStore): KnownAddresses {
  const book = createAddressBook();
  return {
    book,
    async catchUp() {
      for (;;) {
        const page = await payments.listDepositAddresses(book.lastRow, PAGE_SIZE);
        for (const { row, depositAddress } of page) book.add(row, depositAddress);
        if (page.length < PAGE_SIZE) return;
      }
    },
    async findPayment(depositAddress) {
      const rows = book.candidatesOf(depositAddress);
      if (rows.length === 0) return null;
      const candidates = await payments.findPaymentsByRow(rows);
      return candidates.find((payment) => isSameAddress(payment.depositAddress, depositAddress)) ?? null;
    },
  };
}

/** Judges payout addresses: neither one of these fixed ones nor one of our own deposit addresses. */
export function createReservedAddressCheck(
  known: KnownAddresses,
  fixed: readonly Address[],
): (address: Address) => Promise<boolean> | boolean {
  const fixedAddresses = new Set<string>(fixed);
  return (address) => {
    if (fixedAddresses.has(address)) return true;
    // Nearly always a certain miss, and then nothing needs to be waited for: this runs for every creation.
    return known.book.isCandidate(address) && known.findPayment(address).then((payment) => payment !== null);
  };
}

function isSameAddress(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
