/** SQLite's primary result code for "somebody else has the lock". */
const SQLITE_BUSY = 5;
/** Extended result codes carry the primary one in their low byte. */
const PRIMARY_CODE_MASK = 0xff;

/** Whether SQLite refused because another connection holds the lock; trying again later makes sense. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  return (error.errcode & PRIMARY_CODE_MASK) === SQLITE_BUSY;
}
