import { readToken } from './read-answer.ts';

/** A token that many calls use and one at a time fetches. */
export interface SharedToken {
  /** The token, fetched first where there is none that still works for a while; callers at the same time share one fetch. */
  read(fetchToken: FetchToken): Promise<string>;
  /** Gives a token up that was refused; one that has replaced it meanwhile stays. */
  forget(token: string): void;
}

/** Fetches a new one; what comes back is still to be checked. */
export type FetchToken = (now: {
  readonly nowMs: number;
}) => Promise<{ readonly token: unknown; readonly expiresAtMs: number }>;

/** So long before its end a token is not begun with any more. */
const EARLY_MS = 60_000;

/** Holds no token at first. A failed fetch is forgotten, so that the next caller tries again. */
export function createSharedToken(nowMs: () => number): SharedToken {
  let current: { readonly token: string; readonly expiresAtMs: number } | null = null;
  let fetching: Promise<string> | null = null;

  async function fetchNew(fetchToken: FetchToken): Promise<string> {
    const { token, expiresAtMs } = await fetchToken({ nowMs: nowMs() });
    current = { token: readToken(token), expiresAtMs };
    return current.token;
  }

  return {
    read(fetchToken) {
      if (current !== null && nowMs() < current.expiresAtMs - EARLY_MS) return Promise.resolve(current.token);
      fetching ??= fetchNew(fetchToken).finally(() => {
        fetching = null;
      });
      return fetching;
    },
    forget(token) {
      if (current?.token === token) current = null;
    },
  };
}
