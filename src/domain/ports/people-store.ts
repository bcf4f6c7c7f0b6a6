import type { Passkey } from '../passkey.ts';
import type { Member, Membership, Role, User } from '../person.ts';

export type UserChange = Partial<Pick<User, 'passwordHash' | 'totpSecret' | 'totpStep' | 'isOperator'>>;

/** Passkeys of users. */
export interface PasskeyStore {
  /** False when it is known already, to anybody, or the user has as many as may be. */
  addPasskey(passkey: Passkey): Promise<boolean>;
  /** The user's, the oldest first. */
  listPasskeys(userId: string): Promise<readonly Passkey[]>;
  /** Notes a use; false when there is no such passkey of the user, or when its count has not gone up. */
  usePasskey(userId: string, id: string, counter: number, atMs: number): Promise<boolean>;
  /** False when the user has no such passkey. */
  removePasskey(userId: string, id: string): Promise<boolean>;
}

/** Users, and their rights in accounts. */
export interface PeopleStore extends PasskeyStore {
  /** False when there is a user with this e-mail address. */
  createUser(user: User): Promise<boolean>;
  findUser(userId: string): Promise<User | null>;
  /** By an address as `parseUserEmail` gives it. */
  findUserByEmail(email: string): Promise<User | null>;
  /** In the order of their addresses. */
  listUsers(limit: number): Promise<readonly User[]>;
  /** Null when there is no such user. */
  updateUser(userId: string, change: UserChange): Promise<User | null>;

  /** Takes a time step of the second factor; false when this one or a later one was taken already. */
  spendTotpStep(userId: string, step: number): Promise<boolean>;
  /** Hashes of the codes that stand in for the second factor; the earlier ones are forgotten. */
  replaceRecoveryCodes(userId: string, hashes: readonly string[]): Promise<void>;
  /** Uses up the code that has one of the hashes; false when there is none. */
  spendRecoveryCode(userId: string, hashes: readonly string[]): Promise<boolean>;

  /** Gives a right, or changes it; false when the account or the user has as many as may be. */
  putMembership(membership: Membership): Promise<boolean>;
  /** Of one user, the oldest first. */
  listMemberships(userId: string): Promise<readonly Membership[]>;
  /** Of one account, the oldest first. */
  listMembers(accountId: string): Promise<readonly Member[]>;
  /**
   * Changes a right, or takes it away (null). `last_owner`: refused, because nobody else could manage the account;
   * decided within the transaction, so that two owners cannot take each other out.
   */
  changeMembership(
    accountId: string,
    userId: string,
    role: Role | null,
  ): Promise<'changed' | 'unknown' | 'last_owner'>;
}
