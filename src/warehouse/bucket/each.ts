const AT_ONCE = 8;

/**
 * Processes all items, several at once. After a failure no more are started, and it ends when the running ones have.
 */
export async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  // Shared by the loops: one that throws ends it for all.
  const left = (function* () {
    yield* all;
  })();
  const worker = async () => {
    for (const one of left) await work(one);
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, all.length) }, worker));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
