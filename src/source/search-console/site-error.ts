import { Failure } from '../../base/exit.js';

/** What is wrong with a file of a site. The message continues a sentence that begins with the file's address. */
export class SiteError extends Failure {
  constructor(
    message: string,
    /** Whether the listing lacks nothing for it. */
    readonly harmless = false,
  ) {
    super(message);
  }
}

/** @throws SiteError, which harms nothing, if a file's answer says that it is gone */
export function checkNotGone(status: number): void {
  if (status === 404 || status === 410)
    throw new SiteError(`answered ${status}, so it counts as empty; stop listing it`, true);
}

/** A file that ends too soon, which another try may get as a whole. */
export class CutShort extends SiteError {}
