/** Where files come from that may be elsewhere until a statement names them. */
export interface FileSource {
  /**
   * Brings those of some files that are elsewhere to their places; the others are left alone.
   *
   * @returns what to call once they may go again
   * @throws UnreachableError
   */
  bring(files: readonly string[]): Promise<() => void>;
  close(): void;
}

/** The same, but nobody waits for it after a signal: then the signal's reason is thrown. */
export async function bringUntil(
  signal: AbortSignal | null,
  source: FileSource,
  files: readonly string[],
): Promise<() => void> {
  const brought = source.bring(files);
  if (signal === null) return brought;
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([brought, stopped]);
  } catch (error) {
    brought.then((release) => release()).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
