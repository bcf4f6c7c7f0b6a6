import type { Actor } from '../../accounts/people-context.ts';
import type { SignedIn } from '../../accounts/read-session.ts';

/** One request of an operator who is signed in. */
export interface OperatorVisit extends SignedIn {
  /** Who it is, for the audit log. */
  readonly actor: Actor;
  /** For every form of the page: `formTokenField(visit.formToken)`. */
  readonly formToken: string;
  /** The named parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** What stands after `?`. */
  readonly query: URLSearchParams;
}

/** In which times are shown: accounts are in many zones, and so are operators. */
export const CONSOLE_TIME_ZONE = 'UTC';
