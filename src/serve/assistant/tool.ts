import type { z } from 'zod';
import type { Reader } from '../../answers/query/reader.js';
import type { Status } from '../../answers/status/status.js';
import type { Basis } from './basis.js';

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
  ask<T>(signal: AbortSignal, work: (reader: Reader, signal: AbortSignal) => Promise<T>): Promise<T>;
  /** The output of `indexhouse status` for the client's websites. */
  status(): Promise<Status>;
}

/** A tool's answer: its content, and a short text without anything that a website or the service chose. */
export interface ToolAnswer<O extends { basis: Basis }> {
  text: string;
  content: O;
}

interface TypedTool<I, O extends { basis: Basis }> {
  name: string;
  title: string;
  description: string;
  input: z.ZodType<I> & z.ZodObject;
  output: z.ZodType<O> & z.ZodObject;
  run(client: Client, input: I, signal: AbortSignal): Promise<ToolAnswer<O>>;
}

/** A tool that takes unvalidated input. */
export type Tool = Omit<TypedTool<unknown, { basis: Basis }>, 'input' | 'output'> &
  Record<'input' | 'output', z.ZodObject>;

export function toolOf<I, O extends { basis: Basis }>(tool: TypedTool<I, O>): Tool {
  return { ...tool, run: (client, input, signal) => tool.run(client, tool.input.parse(input), signal) };
}
