import { Argument, type Command } from 'commander'
import type { CommandLine } from './command-line.js'

const shells = ['bash', 'zsh', 'fish'] as const

/** `giving completion`: what a shell needs to complete the commands, made of the commands themselves. */
export function registerCompletion(program: Command, { action }: CommandLine): void {
  program
    .command('completion')
    .description('print the completion of these commands for a shell, such as: source <(giving completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(
      action(async (output, shell: (typeof shells)[number]) => {
        for (const line of scripts[shell](wordsOf(program))) output.line(line)
        return 0
      }),
    )
}

/** The words that may follow a command. Its path is its words (`users create`); that of the program is ''. */
type Words = {
  readonly path: string
  readonly words: readonly { readonly word: string; readonly description: string }[]
}

function wordsOf(command: Command, path = ''): Words[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  const words = [
    ...commands.map((one) => ({ word: one.name(), description: one.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((word) => ({ word, description })),
    ),
    ...help.visibleOptions(command).map((one) => ({ word: one.long ?? '', description: one.description })),
  ]
  return [{ path, words }, ...commands.flatMap((one) => wordsOf(one, `${path} ${one.name()}`.trim()))]
}

const scripts: Readonly<Record<(typeof shells)[number], (table: readonly Words[]) => readonly string[]>> = {
  bash: (table) => [
    '_giving() {',
    '  local at= word words',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    ...followCommands(table),
    '  done',
    '  case "$at" in',
    ...table.map(({ path, words }) => `    '${path}') words='${words.map(({ word }) => word).join(' ')}' ;;`),
    '  esac',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _giving giving',
  ],
  zsh: (table) => [
    '#compdef giving',
    '_giving() {',
    '  local at= word',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    ...followCommands(table),
    '  done',
    '  case "$at" in',
    ...table.map(({ path, words }) => `    '${path}') compadd -- ${words.map(({ word }) => word).join(' ')} ;;`),
    '  esac',
    '  _files',
    '}',
    'compdef _giving giving',
  ],
  fish: (table) => [
    'function __giving_at',
    '  set --local at',
    '  for word in (commandline --tokenize --cut-at-cursor --current-process)[2..]',
    `    if contains -- (string trim "$at $word") ${table.flatMap(({ path }) => (path ? [`'${path}'`] : [])).join(' ')}`,
    '      set at (string trim "$at $word")',
    '    end',
    '  end',
    '  echo "$at"',
    'end',
    // Files only where no command is to be chosen.
    `complete --command giving --no-files --condition 'contains -- (__giving_at) "" ${groups(table).join(' ')}'`,
    ...table.flatMap(({ path, words }) =>
      words.map(
        ({ word, description }) =>
          `complete --command giving --condition 'test (__giving_at) = "${path}"' --arguments ${word} --description ${quoted(description)}`,
      ),
    ),
  ],
}

/** The commands that have commands of their own. */
function groups(table: readonly Words[]): string[] {
  return table.flatMap(({ path }) => (path && table.some((one) => one.path.startsWith(`${path} `)) ? [path] : []))
}

/** The words before the cursor that name a command, for bash and zsh. */
function followCommands(table: readonly Words[]): string[] {
  const known = table.flatMap(({ path }) => (path ? [`'${path}'`] : []))
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
  return ['    case "${at:+$at }$word" in', `      ${known.join(' | ')}) at="\${at:+$at }$word" ;;`, '    esac']
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`
}
