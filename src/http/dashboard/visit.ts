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
}
