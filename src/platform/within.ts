/** The answer, or the error of `lateError` when it takes longer. It is then still waited for, behind the caller. */
export async function within<T>(limitMs: number, answer: Promise<T>, lateError: () => Error): Promise<T> {
  if (!Number.isFinite(limitMs)) return answer;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(lateError()), limitMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
