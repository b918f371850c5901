import { Client, type Dispatcher } from 'undici';

export interface ConnectionsOptions {
  /** At most so many at once. */
  connections: number;
  /** For connecting, for the headers, and between two pieces of a body, in milliseconds. */
  timeout: number;
}

/** What becomes of one request: its answer's handler, which also frees the connection when the request has ended. */
export interface Collector extends Dispatcher.DispatchHandler {
  /** Null while the request waits for one. */
  connection: Connection | null;
  abort(reason: Error): void;
  refuse(reason: Error): void;
}

/** One connection, and the request under way on it. */
export class Connection {
  #collector: Collector | null = null;

  constructor(
    readonly client: Client,
    private readonly onFree: (connection: Connection) => void,
  ) {}

  send(request: Dispatcher.DispatchOptions, collector: Collector): void {
    this.#collector = collector;
    collector.connection = this;
    this.client.dispatch(request, collector);
  }

  /** The request has ended, however it ended. */
  free(collector: Collector): void {
    if (this.#collector !== collector) return;
    this.#collector = null;
    this.onFree(this);
  }

  async destroy(reason: Error): Promise<void> {
    this.#collector?.abort(reason);
    await this.client.destroy(reason);
  }
}

/**
 * The connections to one origin, each opened when all others are in use. Two costs of asking shaped this, each as high
 * as that of judging a report. Undici's own pool looks for an idle connection by asking all of them, twice for each
 * request. And what a long-lived `Set`, or a closure made for each request, holds on to lives until the next full
 * garbage collection, with the bodies of all later answers: so each connection knows its one request, and no more.
 */
export class Connections {
  readonly #all: Connection[] = [];
  readonly #idle: Connection[] = [];
  readonly #waiting: { request: Dispatcher.DispatchOptions; collector: Collector }[] = [];
  #ended: Error | null = null;

  constructor(
    private readonly origin: string,
    private readonly options: ConnectionsOptions,
  ) {}

  /** Sends a request as soon as a connection is free. */
  dispatch(request: Dispatcher.DispatchOptions, collector: Collector): void {
    if (this.#ended) {
      collector.refuse(this.#ended);
      return;
    }
    const connection = this.#idle.pop() ?? this.#opened();
    if (connection) connection.send(request, collector);
    else this.#waiting.push({ request, collector });
  }

  /** Ends what is under way and what waits, with this error, and closes every connection. */
  async destroy(reason: Error): Promise<void> {
    this.#ended ??= reason;
    for (const { collector } of this.#waiting.splice(0)) collector.refuse(reason);
    await Promise.all(this.#all.map((connection) => connection.destroy(reason)));
  }

  #opened(): Connection | null {
    const { connections, timeout } = this.options;
    if (this.#all.length >= connections) return null;
    const client = new Client(this.origin, { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } });
    const connection = new Connection(client, (free) => this.#reuse(free));
    this.#all.push(connection);
    return connection;
  }

  #reuse(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next) connection.send(next.request, next.collector);
    else this.#idle.push(connection);
  }
}
