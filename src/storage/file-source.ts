/** A source of files that may be elsewhere until a statement needs them. */
export interface FileSource {
  /**
   * Fetches those of the files that are elsewhere and puts them in their places.
   *
   * @returns a function that releases the files, which may be removed again after that
   * @throws UnreachableError
   */
  bring(files: readonly string[]): Promise<() => void>;
  close(): void;
}

/** Like `bring`, but stops waiting when the signal aborts, and then throws the signal's reason. */
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
