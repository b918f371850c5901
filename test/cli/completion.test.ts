import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atLength } from '../given/at-length.js';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';

/** What is typed before the Tab key, and what is offered. Where that is no list, it is a file or nothing. */
const CASES: [typed: string, offered: string[]][] = [
  ['st', ['status']],
  ['keys ', ['add', 'list', 'revoke']],
  ['keys add --la', ['--label']],
  ['query --format ', ['csv', 'json', 'md', 'parquet', 'table', 'xlsx']],
  ['query -p since=status --raw', ['--raw-csv']],
  ['query indexing', ['indexing_trend']],
  ['query --describe robots', ['robots_blocked']],
  ['schedule --once v', ['verify']],
  ['-c sync --log-level wa', ['warn']],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['sync --deadline ', []],
  ['sync --website st', []],
];

/** Runs inside each shell: prints what is offered for each line, words and lines separated by one line break and two. */
const ASK: Record<string, (script: string) => string> = {
  bash: (script) => `
    source ${script}
    ${CASES.map(([typed]) => {
      const words = ['indexhouse', ...typed.split(' ')];
      return `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _indexhouse
        [[ \${COMPREPLY} ]] && printf '%s\\n' "\${COMPREPLY[@]}"; echo`;
    }).join('\n')}`,
  fish: (script) => `
    source ${script}
    ${CASES.map(([typed]) => `complete -C 'indexhouse ${typed}' | string replace -r '\\t.*' ''; echo`).join('\n')}`,
  // Completion works in a line editor only, so one is started; what it is offered goes through `compadd`.
  zsh: (script) => `
    zmodload zsh/zpty
    zpty editor zsh -f -i
    zpty -w editor "PROMPT= RPROMPT=; autoload -Uz compinit && compinit -u -D; source ${script}; _files() { return 1 }"
    zpty -w editor 'compadd() { local -a hits; builtin compadd -A hits "$@"; print -rC1 -- $hits >> ${script}.out; builtin compadd "$@" }'
    zpty -w editor 'ask() { zle complete-word; BUFFER=; print >> ${script}.out }; zle -N ask; bindkey "^I" ask'
    ${CASES.map(([typed]) => `zpty -w -n editor $'indexhouse ${typed}\\t'`).join('\n')}
    zpty -w editor exit
    while zpty -r editor seen; do :; done
    cat ${script}.out`,
};

test.for(atLength(['bash'], ['bash', 'zsh', 'fish']))(
  '%s completes commands, flags and values',
  async (shell, context) => {
    if (spawnSync(shell, ['--version']).status !== 0) {
      process.stdout.write(`skipped: there is no ${shell}\n`);
      return context.skip();
    }
    const script = join(temporaryFolder(), 'completion');
    const { code, stdout } = await run(['completion', shell]);
    expect(code).toBe(0);
    writeFileSync(script, stdout);
    const asked = execFileSync(shell, ['-c', ASK[shell]?.(script) ?? ''], { encoding: 'utf8' });
    const offered = asked.split(/^\n/m).map((lines) => [...new Set(lines.split('\n').filter(Boolean))].sort());
    expect(CASES.map(([typed], at) => [typed, offered[at] ?? []])).toEqual(CASES);
  },
);
