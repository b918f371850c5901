/** A source of files that may be elsewhere until a statement needs them. */
export interface FileSource {
  /**
   * Fetches those of the files that are elsewhere and puts them in their places.
   *
   * @returns a function that releases the files, which may be removed again after that
   * @throws UnreachableError
   */
  provide(files: readonly string[]): Promise<() => void>;
  close(): void;
}

/** Like `provide`, but stops waiting when the signal aborts, and then throws the signal's reason. */
export async function bringUntil(
  signal: AbortSignal | null,
  source: FileSource,
  files: readonly string[],
): Promise<() => void> {
  const provided = source.provide(files);
  if (signal === null) return provided;
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([provided, stopped]);
  } catch (error) {
    provided.then((release) => release()).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
