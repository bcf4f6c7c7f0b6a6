import type { Role } from './person.ts';

export interface OneTimeLink {
  readonly id: string;
  /** SHA-256 of the token in the link, hex. */
  readonly tokenHash: string;
  /** `forgotten`: anyone may request it. `connect`: exchanged for an API key (`features/connect/connect-shop.ts`). */
  readonly kind: 'password' | 'forgotten' | 'invitation' | 'connect';
  readonly email: string;
  /** User whose password it sets, or who approved the connection; null for an invitation. */
  readonly userId: string | null;
  /** Account of an invitation, and the role there; null for other links. */
  readonly accountId: string | null;
  readonly role: Role | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Maximum `forgotten` links of a user; the oldest is deleted. The rate limit allows fewer such emails in a day. */
export const MAXIMUM_FORGOTTEN_LINKS = 100;
/** Maximum open invitations of an account, beyond which the oldest is deleted. */
export const MAXIMUM_INVITATIONS = 50;
