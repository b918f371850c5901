import type { z } from 'zod';
import type { Reader } from '../analysis/reader.js';
import type { Status } from '../analysis/status.js';
import type { Basis } from './basis.js';
import type { Rows, Window } from './rows.js';

/** Who asks, and what they may ask of the warehouse. */
export interface Client {
  /** The websites that the client may see; null: all. */
  websites: readonly string[] | null;
  /** Milliseconds since 1970: what ages are counted to. */
  now(): number;
  version: string;
  /** Asks one state of the warehouse, of which the client's websites are there and nothing else. */
  ask<T>(signal: AbortSignal, work: (reader: Reader) => Promise<T>): Promise<T>;
  /** Runs SQL of the client's own in a process of its own. */
  query(signal: AbortSignal, sql: string, window: Window): Promise<{ rows: Rows; basis: Basis }>;
  /** What `indexhouse status` says of the client's websites. */
  status(): Promise<Status>;
}

/** What a tool answers: its content, and a short text without anything that a website or the service chose. */
export interface ToolAnswer<O> {
  text: string;
  content: O;
  /** A file that belongs to it, by the address of a resource. */
  link?: { uri: string; name: string; mimeType: string; size: number };
}

interface TypedTool<I, O> {
  name: string;
  title: string;
  description: string;
  input: z.ZodType<I> & z.ZodObject;
  output: z.ZodType<O> & z.ZodObject;
  run(client: Client, input: I, signal: AbortSignal): Promise<ToolAnswer<O>>;
}

/** A tool whose input is not read yet. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: z.ZodObject;
  output: z.ZodObject;
  run(client: Client, input: unknown, signal: AbortSignal): Promise<ToolAnswer<object>>;
}

export function toolOf<I, O extends object>(tool: TypedTool<I, O>): Tool {
  return { ...tool, run: (client, input, signal) => tool.run(client, tool.input.parse(input), signal) };
}
