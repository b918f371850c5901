import type { StateOptions } from '../../warehouse/log/state.js';
import type { OwnTable } from './own-pages.js';

/** When data is too old. */
export interface AgeRule {
  /** Milliseconds: a newest snapshot that is older is stale. */
  maxAge: number;
  /** Websites that are configured: beside theirs, the age of others does not count. None: every website's counts. */
  websites: readonly { id: string }[];
  /** Of websites that the service lists: those that the configuration leaves out. */
  isExcepted?: (id: string) => boolean;
}

/** What a reader opens, and with which limits. */
export interface ReaderOptions extends Pick<StateOptions, 'onRebuilt'> {
  /** Folder of the warehouse; it may be read-only. */
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  /** Ids: of other websites it reads nothing, and its engine can read no file of theirs. Left out: all. */
  websites?: readonly string[] | undefined;
  /** Bytes that questions may spill to disk. Left out: as DuckDB has it. */
  spillLimit?: number;
  /** Files of the user's that questions can read as tables. */
  tables?: readonly OwnTable[] | undefined;
  /** A file of the user's whose columns are joined to `pages`. */
  pagesFrom?: string | undefined;
  /** When its data is too old. Left out: `DEFAULT_AGE_RULE`. */
  ageRule?: AgeRule | undefined;
}
