import type { Argument, Command, Option } from 'commander';
import { analyses } from '../analysis/catalog.js';
import { JOB_NAMES } from '../schedule/job.js';
import { repeated } from './commands/flag-values.js';
import { SHELLS } from './commands/setup.js';
import { EXIT, type Io } from './io.js';
import { formatJson } from './output.js';
import { buildProgram, type Globals } from './program.js';

type Shell = (typeof SHELLS)[number];

/** The possible values of a placeholder such as `<job>`, if there is a list of them. */
const VALUES: Readonly<Record<string, () => readonly string[]>> = {
  name: () => analyses().map(({ name }) => name),
  job: () => JOB_NAMES,
};
const FILES = new Set(['file', 'folder']);

/** A word of the command line, and what it means. */
interface Word {
  text: string;
  about: string;
}

/** The possible values: one of these words, a file, or anything (null). */
type Value = readonly string[] | 'file' | null;

interface Flag {
  /** Such as `-c` and `--config`. */
  names: string[];
  about: string;
  /** Undefined if it takes none. */
  value: Value | undefined;
  repeats: boolean;
}

/** A command, and what may follow it. */
interface Level {
  /** Such as `keys add`; empty for the program itself. */
  path: string;
  commands: Word[];
  flags: Flag[];
  /** The first argument. */
  argument: Value;
}

/** `indexhouse completion`: a script that completes commands, flags and their values; it starts no process. */
export async function run(flags: Globals, io: Io, [shell]: string[]): Promise<number> {
  const program = buildProgram('', io, { exitCode: 0 });
  const name = SHELLS.find((each) => each === shell) ?? 'bash';
  const script = SCRIPTS[name](levelsOf(program, []));
  io.stdout.write(flags.json ? formatJson({ shell, script }) : script);
  return EXIT.done;
}

const SCRIPTS: Record<Shell, (levels: Level[]) => string> = { bash: bashScript, zsh: zshScript, fish: fishScript };

function levelsOf(command: Command, path: string[]): Level[] {
  const help = command.createHelp();
  const children = command.commands.map((child) => levelsOf(child, [...path, child.name()]));
  const level = {
    path: path.join(' '),
    commands: command.commands.map((child) => ({ text: child.name(), about: child.description() })),
    flags: help.visibleOptions(command).map(flagOf),
    argument: valueFor(command.registeredArguments[0]),
  };
  return [level, ...children.flat()];
}

function flagOf(option: Option): Flag {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  const value = option.required || option.optional ? valueFor(option) : undefined;
  return { names, about: option.description, value, repeats: option.variadic || option.parseArg === repeated };
}

function valueFor(of: Argument | Option | undefined): Value {
  if (of?.argChoices) return of.argChoices;
  const sign = of && ('flags' in of ? /<(.+?)>/.exec(of.flags)?.[1] : of.name());
  if (sign === undefined) return null;
  return VALUES[sign]?.() ?? (FILES.has(sign) ? 'file' : null);
}

/** All flags that take a value, as `command/flag`. */
function valueCases(levels: Level[]): string[] {
  return levels.flatMap(({ path, flags }) =>
    flags.flatMap(({ names, value }) => (value === undefined ? [] : names.map((name) => quoted(`${path}/${name}`)))),
  );
}

function commandCases(levels: Level[]): string[] {
  return levels.flatMap(({ path, commands }) => commands.map(({ text }) => quoted(`${path}/${text}`)));
}

/** `complete -o default` offers files where there is no word. */
function bashScript(levels: Level[]): string {
  const cases = (entries: { when: string[]; words: Value | undefined }[]) =>
    entries.flatMap(({ when, words }) =>
      Array.isArray(words) ? [`      ${when.map(quoted).join(' | ')}) words=${quoted(words.join(' '))} ;;`] : [],
    );
  const values = levels.flatMap(({ path, flags }) =>
    flags.map(({ names, value }) => ({ when: names.map((name) => `${path}/${name}`), words: value })),
  );
  const flags = levels.map((level) => ({ when: [level.path], words: level.flags.flatMap(({ names }) => names) }));
  const next = levels.map(({ path, commands, argument }) => {
    return { when: [path], words: commands.length > 0 ? commands.map(({ text }) => text) : argument };
  });
  return `# Completion of indexhouse for bash. In ~/.bashrc: source <(indexhouse completion bash)
_indexhouse() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" at= taken= words= i
  # bash takes the = of --flag=value for a word of its own.
  if [[ "$cur" == = ]]; then cur=; elif [[ "$prev" == = ]]; then prev="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/\${COMP_WORDS[i]}" in
      ${commandCases(levels).join(' | ')}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
      ${valueCases(levels).join(' | ')}) i=$((i + 1)) ;;
    esac
  done
  case "$at/$prev" in
    ${valueCases(levels).join(' | ')}) taken=value ;;
  esac
  if [[ "$taken" ]]; then
    case "$at/$prev" in
${cases(values).join('\n')}
    esac
  elif [[ "$cur" == -* ]]; then
    case "$at" in
${cases(flags).join('\n')}
    esac
  else
    case "$at" in
${cases(next).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _indexhouse indexhouse
`;
}

function zshScript(levels: Level[]): string {
  const functions = levels.map(({ path, commands, flags, argument }) => {
    const rest = commands.length > 0 ? ["'1: :->command'", "'*:: :->rest'"] : [`'*:${zshValue(argument, 'argument')}'`];
    const described = commands.map(({ text, about }) => `    ${quoted(`${text}:${about}`)}`);
    const next =
      commands.length === 0
        ? ''
        : `
  local -a commands=(
${described.join('\n')}
  )
  case "$state" in
    command) _describe command commands ;;
    rest) (( $+functions[${zshName(path)}_$words[1]] )) && ${zshName(path)}_$words[1] ;;
  esac`;
    return `${zshName(path)}() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  _arguments -C \\
    ${[...flags.map(zshFlag), ...rest].join(' \\\n    ')}${next}
}
`;
  });
  return `#compdef indexhouse
# Completion of indexhouse for zsh. In ~/.zshrc, after compinit: source <(indexhouse completion zsh)
${functions.join('\n')}
# In a folder of $fpath this file is the function itself.
if [[ "\${funcstack[1]}" == _indexhouse ]]; then _indexhouse "$@"; else compdef _indexhouse indexhouse; fi
`;
}

function zshName(path: string): string {
  return ['_indexhouse', ...path.split(' ')].filter((part) => part !== '').join('_');
}

function zshFlag({ names, about, value, repeats }: Flag): string {
  const spec = `[${about.replaceAll(/[[\]:\\]/g, '\\$&')}]${value === undefined ? '' : `:${zshValue(value, 'value')}`}`;
  const once = repeats ? '*' : `(${names.join(' ')})`;
  return names.map((name) => quoted(`${once}${name}${spec}`)).join(' ');
}

function zshValue(value: Value, what: string): string {
  if (value === 'file') return `${what}:_files`;
  return value === null ? `${what}: ` : `${what}:(${value.join(' ')})`;
}

function fishScript(levels: Level[]): string {
  const lines = levels.flatMap(({ path, commands, flags, argument }) => {
    const at = `complete -c indexhouse -n ${quoted(`__indexhouse_at "${path}"`)}`;
    return [
      ...commands.map(({ text, about }) => `${at} -a ${text} -d ${quoted(about)}`),
      ...(commands.length > 0 ? [] : [`${at} ${fishValue(argument)}`]),
      ...flags.map(({ names, about, value }) => {
        const named = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
        return `${at} ${named.join(' ')} -d ${quoted(about)}${value === undefined ? '' : ` -r ${fishValue(value)}`}`;
      }),
    ];
  });
  return `# Completion of indexhouse for fish. In ~/.config/fish/config.fish: indexhouse completion fish | source
function __indexhouse_at
    set -l at ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$at/$word"
            case ${commandCases(levels).join(' ')}
                set at (string trim "$at $word")
            case ${valueCases(levels).join(' ')}
                set skip 1
        end
    end
    test "$at" = "$argv"
end
complete -c indexhouse -e
complete -c indexhouse -f
${lines.join('\n')}
`;
}

function fishValue(value: Value): string {
  if (value === 'file') return '-F';
  return value === null ? '-f' : `-f -a ${quoted(value.join(' '))}`;
}

/** A word in single quotes, for every shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
