import { randomBytes } from 'node:crypto';

export const SESSION_SECONDS = 12 * 60 * 60;
const ID_BYTES = 32;
/** Of one key: a script that signs in again and again pushes out its own oldest ones, and nobody else's. */
const MOST_SESSIONS_OF_A_KEY = 100;

interface Session {
  keyId: string;
  token: string;
  /** Milliseconds since 1970. */
  endsAt: number;
}

/**
 * Who is signed in. Held in memory, so a restart signs everybody out. The browser gets a random id and never the token;
 * the token stays here because a key that is revoked or loses a website must do so for open sessions too.
 */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  constructor(
    private readonly now: () => number,
    private readonly randomId: () => string = () => randomBytes(ID_BYTES).toString('base64url'),
  ) {}

  /** Opens a session and gives its id. */
  open(keyId: string, token: string): string {
    this.#dropEnded();
    const [oldest, ...others] = [...this.#sessions].filter(([, session]) => session.keyId === keyId);
    if (oldest && others.length + 1 >= MOST_SESSIONS_OF_A_KEY) this.#sessions.delete(oldest[0]);
    const id = this.randomId();
    this.#sessions.set(id, { keyId, token, endsAt: this.now() + SESSION_SECONDS * 1000 });
    return id;
  }

  /** The token that a session was opened with; null where it has ended or never was. */
  tokenOf(id: string): string | null {
    const session = this.#sessions.get(id);
    return session && this.now() < session.endsAt ? session.token : null;
  }

  close(id: string): void {
    this.#sessions.delete(id);
  }

  #dropEnded(): void {
    for (const [id, { endsAt }] of this.#sessions) if (endsAt <= this.now()) this.#sessions.delete(id);
  }
}
