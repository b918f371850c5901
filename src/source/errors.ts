import { Failure } from '../base/exit.js';

/** How a request ended without a usable answer. A closed set, because recovery and exit codes follow from it. */
export type FailureKind =
  | 'unauthorized'
  | 'forbidden'
  /** The service refuses every request of this kind. */
  | 'closed'
  | 'not_found'
  | 'bad_request'
  | 'refused_link'
  | 'redirect'
  | 'throttled'
  /** The service asks for a longer wait than a run accepts. */
  | 'paused'
  | 'server'
  | 'unexpected_status'
  | 'network'
  /** The service's certificate is not trusted; waiting does not help. */
  | 'certificate'
  | 'timeout'
  | 'too_large'
  | 'bad_body';

const RETRYABLE: ReadonlySet<FailureKind> = new Set(['throttled', 'server', 'network', 'timeout']);
/** Failures that another run would meet again: recorded in `runs`, never resumed. */
const FINAL_FOR_A_LISTING: ReadonlySet<FailureKind> = new Set([
  'unauthorized',
  'forbidden',
  'not_found',
  'refused_link',
  'redirect',
]);

/** The configuration keys that error messages point at. */
export interface Places {
  baseUrl: string;
  token: string;
}

export const API_PLACES: Places = { baseUrl: 'api.base_url', token: 'api.token' };

/** A request that got no usable answer: what happened, and what the user can do about it. */
export class SourceError extends Failure {
  constructor(
    readonly kind: FailureKind,
    message: string,
    /** `waitMs`: how long the service asks to wait before a retry; `said`: what it answered, without a remedy. */
    readonly detail: { status?: number; waitMs?: number; said?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: detail.cause });
  }

  get status(): number | null {
    return this.detail.status ?? null;
  }

  /** Whether a retry may help. */
  get retryable(): boolean {
    return RETRYABLE.has(this.kind);
  }

  /** Whether this ends a website's listing for good. */
  get final(): boolean {
    return FINAL_FOR_A_LISTING.has(this.kind);
  }
}

/** The key's next slot comes after the request's deadline. Nothing was sent. */
export class TooLate extends Failure {
  constructor() {
    super('the key may not send another request before the deadline');
  }
}
