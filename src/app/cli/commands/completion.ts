import type { Argument, Command, Option } from 'commander';
import { analyses } from '../../../answers/query/catalog.js';
import { JOB_NAMES } from '../../daemon/job.js';
import type { Globals } from '../command.js';
import type { SHELLS } from '../flags/flag-values.js';
import { EXIT, type Io } from '../io.js';
import { formatJson } from '../output/output.js';

/** The possible values of a placeholder such as `<job>`, if there is a list of them. */
const VALUES: Readonly<Record<string, () => readonly string[]>> = {
  name: () => analyses().map(({ name }) => name),
  job: () => JOB_NAMES,
};

/** What each shell runs at the Tab key: it asks for the next words, and offers files where there are none. */
const SCRIPTS: Record<(typeof SHELLS)[number], string> = {
  bash: `_indexhouse() {
  local IFS=$'\\n'
  COMPREPLY=($(indexhouse completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))
}
complete -o default -F _indexhouse indexhouse
`,
  zsh: `#compdef indexhouse
_indexhouse() {
  local -a offered=("\${(@f)$(indexhouse completion zsh -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  if [[ -n "$offered" ]]; then _describe indexhouse offered; else _files; fi
}
if [[ "\${funcstack[1]}" == _indexhouse ]]; then _indexhouse "$@"; else compdef _indexhouse indexhouse; fi
`,
  fish: `function __indexhouse
    set -l offered (indexhouse completion fish -- (commandline -opc)[2..-1] (commandline -ct) 2> /dev/null)
    if set -q offered[1]
        printf '%s\\n' $offered
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c indexhouse -f -a '(__indexhouse)'
`,
};

/** How each shell takes a word and what it means. */
const LINES: Record<keyof typeof SCRIPTS, (word: Word) => string> = {
  bash: ({ text }) => text,
  zsh: ({ text, about }) => (about === '' ? text : `${text}:${about}`),
  fish: ({ text, about }) => `${text}\t${about}`,
};

interface Word {
  text: string;
  about: string;
}

/** `indexhouse completion`: a script for a shell; or, behind `--`, the words that may come next. */
export async function run(flags: Globals, io: Io, [shell = '', ...words]: string[], program: Command): Promise<number> {
  const name = shell === 'zsh' || shell === 'fish' ? shell : 'bash';
  if (words.length > 0) {
    const offered = nextWords(program, words);
    io.stdout.write(offered.map((word) => `${LINES[name](word)}\n`).join(''));
    return EXIT.done;
  }
  io.stdout.write(flags.json ? formatJson({ shell, script: SCRIPTS[name] }) : SCRIPTS[name]);
  return EXIT.done;
}

/** What may stand in place of the last of these words; nothing where any text or file may. */
function nextWords(program: Command, given: readonly string[]): Word[] {
  // To bash, the = of --flag=value is a word of its own.
  const words = given.filter((word) => word !== '=');
  const current = given.at(-1) === '=' ? '' : (words.pop() ?? '');
  let command = program;
  let flag: Option | undefined;
  for (const word of words) {
    const option = flag ? undefined : optionsOf(command).find(({ short, long }) => word === short || word === long);
    const child = flag || option ? undefined : command.commands.find((one) => one.name() === word);
    command = child ?? command;
    flag = option?.required || option?.optional ? option : undefined;
  }
  const offered = flag
    ? valuesOf(flag).map(plain)
    : current.startsWith('-')
      ? optionsOf(command).flatMap(({ short, long, description: about }) =>
          [short, long].flatMap((text) => (text === undefined ? [] : [{ text, about }])),
        )
      : command.commands.length > 0
        ? command.commands.map((one) => ({ text: one.name(), about: one.description() }))
        : valuesOf(command.registeredArguments[0]).map(plain);
  return offered.filter(({ text }) => text.startsWith(current));
}

function optionsOf(command: Command): Option[] {
  return command.createHelp().visibleOptions(command);
}

/** The choices of a flag or an argument, or those that its placeholder stands for. */
function valuesOf(of: Argument | Option | undefined): readonly string[] {
  if (of?.argChoices) return of.argChoices;
  const placeholder = of && ('flags' in of ? /<(.+?)>/.exec(of.flags)?.[1] : of.name());
  return VALUES[placeholder ?? '']?.() ?? [];
}

function plain(text: string): Word {
  return { text, about: '' };
}
