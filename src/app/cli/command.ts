import type { Command } from 'commander';
import type { LogLevel } from '../../base/observe/log.js';
import type { Io } from './io.js';

/** The options that every command takes, before or after its name. */
export interface Globals {
  config?: string;
  json?: boolean;
  logLevel?: LogLevel;
}

/** The options that say which warehouse is read. */
export interface ReadFlags extends Globals {
  warehouse?: string;
}

/** What a command does, loaded when the command runs. Returns the exit code. */
export interface Work<Flags> {
  run(flags: Flags, io: Io, words: string[]): Promise<number>;
}

/** Makes a command from its name and its work; a group of commands has no work of its own. */
export type Define = <Flags extends Globals>(name: string, load?: () => Promise<Work<Flags>>) => Command;
