/**
 * The other end of `child-process.ts`: says that this process is ready and answers what the bench asks. It exits when
 * told to, and when the bench is gone.
 */
export function answerParent(
  ready: object,
  answer: (question: unknown) => object | Promise<object>,
  stop: () => Promise<void>,
): void {
  let isStopping = false;
  const stopOnce = () => {
    if (isStopping) return;
    isStopping = true;
    void stop().then(() => {
      if (process.connected) process.disconnect();
    });
  };
  process.on('disconnect', stopOnce);
  process.on('message', (question) => {
    if (question === 'stop') stopOnce();
    else void Promise.resolve(answer(question)).then((answered) => process.send?.(answered));
  });
  process.send?.(ready);
}
