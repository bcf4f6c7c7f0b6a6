/** Something that was started, with everything under it. */
export interface Running {
  stop(): Promise<void>;
}

/** What has to be undone, in reverse order, when stopping or when a later step of starting fails. */
export interface CleanUp {
  add<T>(part: T, undo: (part: T) => Promise<void>): T;
}

/** Starts something step by step; when a step fails, the ones before it are undone. */
export async function withCleanUp(start: (cleanUp: CleanUp) => Promise<void>): Promise<Running> {
  const undoing: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const undo of undoing.splice(0).reverse()) await undo();
  };
  try {
    await start({
      add(part, undo) {
        undoing.push(() => undo(part));
        return part;
      },
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}
