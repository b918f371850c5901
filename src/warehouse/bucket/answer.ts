import { closeSync, openSync, writeSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { endLate } from '../../source/transport.js';
import { BucketError } from './errors.js';

const MAX_TEXT_BYTES = 64e6;

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * Collects one answer. Never makes undici wait for it: a paused answer whose connection ends kills the process there.
 */
export class Collector implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #file: number | null = null;
  #late: NodeJS.Timeout | undefined;
  #answer: Omit<Answer, 'body'> = { status: 0, headers: {} };

  constructor(
    private readonly into: string | undefined,
    private readonly timeoutMs: number,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  onRequestStart(): void {}

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Answer['headers']): void {
    if (status >= 200) clearTimeout(this.#late);
    else this.#late ??= endLate(controller, this.timeoutMs);
    this.#answer = { status, headers };
    if (this.into !== undefined && status === 200) this.#file = openSync(this.into, 'w');
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#file !== null) writeWhole(this.#file, chunk);
    else if (this.#bytes > MAX_TEXT_BYTES)
      controller.abort(new BucketError('the bucket answered more than was asked for'));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#close();
    this.resolve({ ...this.#answer, body: Buffer.concat(this.#chunks) });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#late);
    this.#close();
    this.reject(error);
  }

  #close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

function writeWhole(file: number, chunk: Buffer): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
}
