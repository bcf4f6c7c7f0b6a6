import type { FastifyReply } from 'fastify';
import type { Actor } from '../../accounts/people-context.ts';
import type { ChosenAccount, SignedIn } from '../../accounts/read-session.ts';

/** One request of somebody who is signed in and has a right in an account. */
export interface Visit extends SignedIn, ChosenAccount {
  /** Who it is, for the audit log. */
  readonly actor: Actor;
  /** For every form of the page: `formTokenField(visit.formToken)`. */
  readonly formToken: string;
  /** The named parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** What stands after `?`. */
  readonly query: URLSearchParams;
  /** In which times are shown. */
  readonly timeZone: string;
  /** An operator's look at somebody else's account: until when, and where it is ended; null for a member. */
  readonly viewing: { readonly untilMs: number; readonly stopPath: string } | null;
}

/** Who has come in, or the answer to who may not: first sign in, or there is nothing for you here. */
export type Entry = { readonly visit: Visit } | { readonly answered: FastifyReply };
