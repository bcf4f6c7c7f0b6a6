/** The answer, or the error of `lateError` when it takes longer; the answer then settles in the background. */
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
