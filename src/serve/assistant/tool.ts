import type { z } from 'zod';
import type { Reader } from '../../answers/query/reader.js';
import type { Status } from '../../answers/status/status.js';
import type { QuestionKind } from '../store/question-queue.js';
import { type Basis, basisOf, basisSchema } from './basis.js';

/** A client, and what it may see of the warehouse. */
export interface Client {
  /** The websites that the client may see; null: all. */
  websites: readonly string[] | null;
  /** Milliseconds since 1970: the time that ages are relative to. */
  now(): number;
  version: string;
  /** Folder of the warehouse. */
  warehouse: string;
  /** Reads one state of the warehouse, which holds the client's websites only. */
  ask<T>(
    signal: AbortSignal,
    kind: QuestionKind,
    work: (reader: Reader, signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** The output of `indexhouse status` for the client's websites. */
  status(): Promise<Status>;
}

/** What a tool found for a question. */
interface Found<O> {
  content: O;
  /** A short text without anything that a website or the service chose. */
  text: string;
  /** Id of the only website that the answer is about. */
  website?: string | null;
  /** The dates that it is about, in words. */
  period?: string | null;
}

interface ToolContent<I, O> {
  name: string;
  title: string;
  description: string;
  input: z.ZodType<I> & z.ZodObject;
  /** Without the basis, which every answer has. */
  output: z.ZodType<O> & z.ZodObject;
  /** Left out: `slow`. */
  kind?: QuestionKind;
  answer(reader: Reader, input: I, client: Client, signal: AbortSignal): Promise<Found<O>>;
}

/** A tool that takes unvalidated input. Its answers end with the basis that they were read with. */
export interface Tool extends Omit<ToolContent<unknown, unknown>, 'input' | 'output' | 'answer'> {
  input: z.ZodObject;
  output: z.ZodObject;
  run(client: Client, given: unknown, signal: AbortSignal): Promise<{ text: string; content: { basis: Basis } }>;
}

export function toolOf<I, O extends object>({ answer, output, ...tool }: ToolContent<I, O>): Tool {
  return {
    ...tool,
    output: output.extend({ basis: basisSchema }),
    run: async (client, given, signal) => {
      const input = tool.input.parse(given);
      return client.ask(signal, tool.kind ?? 'slow', async (reader, stopped) => {
        const { content, text, website = null, period = null } = await answer(reader, input, client, stopped);
        return { text, content: { ...content, basis: await basisOf(reader, website, client.now(), period) } };
      });
    },
  };
}
