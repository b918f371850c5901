import type { GoogleConfig } from '../../base/config/google.js';
import { DAY_MS, type Effects, MINUTE_MS, realEffects, SECOND_MS } from '../../base/time.js';
import type { ClientOptions } from '../client.js';
import { type Credentials, findCredentials, MOST_CHARACTERS } from './credentials.js';
import { accountOf, remedyFor } from './remedy.js';
import { SecretExchange } from './secret-exchange.js';
import { signIn } from './sign-in.js';

/** A token is renewed this long before its end. */
const EARLY_MS = MINUTE_MS;
export interface GoogleClientOptions
  extends Pick<ClientOptions, 'timeout' | 'maxAttempts' | 'signal' | 'effects' | 'onNotice' | 'onAnswer'> {
  google: GoogleConfig;
}

type AccessOptions = Pick<GoogleClientOptions, 'google' | 'timeout' | 'effects' | 'signal'>;

/** One account's access: signs in when a token is first needed, and again before its end or when it is refused. */
export class Access {
  readonly credentials: Credentials;
  /** For messages: the account's e-mail address, or `your account`. */
  readonly account: string;
  readonly #effects: Effects;
  readonly #exchange: SecretExchange;
  #held = { token: '', until: 0 };
  #pending: Promise<string> | null = null;

  /** @throws SourceError `unauthorized`, with the file, what is wrong and the remedy */
  constructor({ google, timeout, effects = realEffects, signal }: AccessOptions) {
    this.credentials = findCredentials(google);
    this.account = accountOf(this.credentials);
    this.#effects = effects;
    const [{ path }, remedy] = [this.credentials, remedyFor(this.credentials)];
    this.#exchange = new SecretExchange({ path, timeout, effects, signal, remedy });
  }

  /** Masks what was lately sent to sign in or received. */
  redact(text: string): string {
    return this.#exchange.redact(text);
  }

  /**
   * Those who ask at the same time share one sign-in.
   *
   * @param refused a token that was answered with a 401, and is not handed out again
   * @throws SourceError `unauthorized` with the remedy; another if signing in may work later
   */
  token(refused?: string): Promise<string> {
    const { token, until } = this.#held;
    if (token !== refused && this.#effects.now() < until) return Promise.resolve(token);
    this.#pending ??= this.#signIn().finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  async #signIn(): Promise<string> {
    const { file } = this.credentials;
    const { token, endsAt } = await this.#exchange.run(secretsIn(file), (send) => signIn(file, send));
    if (!token || token.length > MOST_CHARACTERS)
      throw this.#exchange.broken(`the answer has no token of at most ${MOST_CHARACTERS} characters`);
    this.#exchange.hide([token]);
    // Whatever Google's answer says, a token is used for a while and not for ever.
    const life = Math.min(endsAt - Date.now() || 0, DAY_MS);
    this.#held = { token, until: this.#effects.now() + Math.max(life - EARLY_MS, life / 2, SECOND_MS) };
    return token;
  }
}

/** The secrets that a file holds, whether they are sent as they are or not. */
function secretsIn(file: object): string[] {
  return Object.entries(file).flatMap(([key, value]) => {
    if (typeof value === 'object') return secretsIn(value);
    return /^(client_secret|refresh_token|private_key)$/.test(key) ? [String(value)] : [];
  });
}
