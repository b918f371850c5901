import { UsageError } from '../exit.js';

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** Absolute path of the file, or the other origin of the value, such as `environment INDEXHOUSE_API_TOKEN`. */
  file: string;
  /** Line and column count from 1; null if the problem has no place in a file. */
  line: number | null;
  column: number | null;
  /** Such as `api.token` or `websites[0].id`; empty for the whole file. */
  path: string;
  /** What is wrong. Never contains a token or a value from the environment. */
  message: string;
  /** What the user can do, one sentence. */
  remedy: string;
}

type Place = Pick<ConfigProblem, 'line' | 'column'>;

/** The configuration cannot be used. Lists all that is wrong with it at once; a retry cannot help. */
export class ConfigError extends UsageError {
  readonly problems: ConfigProblem[];

  constructor(problems: ConfigProblem[]) {
    const lines = problems.map((problem) => `${problemText(problem)}. ${problem.remedy}`);
    super(
      lines.length === 1 ? lines.join() : [`The configuration has ${lines.length} problems:`, ...lines].join('\n  '),
    );
    this.problems = problems;
  }
}

/** An error about a file as a whole. */
export function fileError(
  file: string,
  message: string,
  remedy: string,
  place: Place = { line: null, column: null },
): ConfigError {
  return new ConfigError([{ file, ...place, path: '', message, remedy }]);
}

/** A problem and its place. */
export function problemText({ file, line, column, path, message }: ConfigProblem): string {
  const place = line === null ? file : `${file}:${line}:${column}`;
  return `${place}: ${path === '' ? '' : `${path} `}${message}`;
}
