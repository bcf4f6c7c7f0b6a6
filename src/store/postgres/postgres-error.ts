import { DatabaseError } from 'pg';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const UNIQUE_VIOLATION = '23505';
/** The server ends the connection: shutdown, crash, not ready yet; or a transaction was idle for too long. */
const FAREWELLS = new Set(['57P01', '57P02', '57P03', '57P05', '25P03']);
const CONNECTION_EXCEPTION = '08';

/** Whether the transaction was undone only because it met another one: the same again makes sense. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/** Whether a failed statement's connection is of no use any more: PostgreSQL's objections leave it usable. */
export function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error);
  return code === null || FAREWELLS.has(code) || code.startsWith(CONNECTION_EXCEPTION);
}

/** The SQLSTATE of what PostgreSQL said; null for an error that came from anywhere else. */
function codeOf(error: unknown): string | null {
  return error instanceof DatabaseError ? (error.code ?? null) : null;
}
