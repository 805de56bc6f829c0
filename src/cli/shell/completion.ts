// `iprisk completion SHELL`: completes commands, options and their choices, from the same tables as
// the command line. zsh runs bash's script through `bashcompinit`. `npx iprisk` is completed as
// well, unless npx has a completion that this would replace; fish adds to it.

import { usageError } from '../../base/coded-error.ts'
import { type Option, optionFlag } from '../../config/options.ts'

export interface CompletedCommand {
  /** `['keys', 'create']`. */
  readonly words: readonly string[]
  readonly help: string
  readonly options: readonly Option[]
  /** Its arguments are, or may be, files. */
  readonly takesFiles: boolean
}

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

/** Throws `usage` for another shell. */
export function completionScript(
  shell: string,
  commands: readonly CompletedCommand[],
): readonly string[] {
  if (Object.hasOwn(scripts, shell)) return scripts[shell as keyof typeof scripts](commands)
  throw usageError(`There is no completion for ${shell}; use bash, zsh or fish.`)
}

const everywhere = ['--config', '--help'] as const

const isPath = ({ flag }: Option): boolean => /<(file|folder)(\.\.\.)?>/.test(flag)

const takesValue = ({ form }: Option): boolean => form !== 'switch'

/** The second words of each first word; none if it is a command itself. */
function groupsOf(commands: readonly CompletedCommand[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const { words } of commands) {
    const [first = '', ...more] = words
    groups.set(first, [...(groups.get(first) ?? []), ...more])
  }
  return groups
}

function bashScript(commands: readonly CompletedCommand[]): readonly string[] {
  const groups = groupsOf(commands)
  const valued = [...new Set(commands.flatMap(({ options }) => options))].filter(takesValue)
  /** Options that share a name are told apart by their command. */
  const patternOf = (one: Option): string => {
    const flag = optionFlag(one)
    if (valued.filter((other) => optionFlag(other) === flag).length === 1) return `*:${flag}`
    const own = commands.filter(({ options }) => options.includes(one))
    return own.map(({ words }) => `"${words.join(' ')}:${flag}"`).join('|')
  }
  const chosen = valued.filter(({ choices }) => choices !== undefined)
  const paths = ['*:--config', ...valued.filter(isPath).map(patternOf)]
  const others = valued.filter((one) => !isPath(one) && one.choices === undefined).map(patternOf)
  const secondWords = [...groups].filter(([, more]) => more.length > 0)
  return [
    '# Completion of iprisk for bash: source <(iprisk completion bash)',
    '_iprisk() {',
    '  local cur prev command at word',
    '  cur="${COMP_WORDS[COMP_CWORD]}"',
    '  prev="${COMP_WORDS[COMP_CWORD-1]}"',
    '  COMPREPLY=()',
    '  command=""',
    '  for (( at = 1; at < COMP_CWORD; at++ )); do',
    '    word="${COMP_WORDS[at]}"',
    '    case "$command:$word" in',
    '      *:-*) ;;',
    `      :${[...groups.keys()].join('|:')}) command="$word" ;;`,
    ...secondWords.map(
      ([first, more]) =>
        `      ${more.map((one) => `${first}:${one}`).join('|')}) command="${first} $word" ;;`,
    ),
    '    esac',
    '  done',
    '  case "$command:$prev" in',
    ...chosen.map((one) => `    ${patternOf(one)}) ${replyBash(one.choices ?? [])}; return ;;`),
    `    ${paths.join('|')}) COMPREPLY=( $(compgen -f -- "$cur") ); return ;;`,
    `    ${others.join('|')}) return ;;`,
    '  esac',
    '  case "$command" in',
    `    "") ${replyBash([...groups.keys(), '--help', '--version'])} ;;`,
    ...secondWords.map(([first, more]) => `    ${first}) ${replyBash([...more, '--help'])} ;;`),
    ...commands.map(({ words, options }) => {
      const flags = [...options.map(optionFlag), ...everywhere]
      return `    "${words.join(' ')}") case "$cur" in -*) ${replyBash(flags)} ;; esac ;;`
    }),
    '  esac',
    '}',
    'complete -o default -F _iprisk iprisk',
    '_iprisk_npx() {',
    '  COMPREPLY=()',
    '  if (( COMP_CWORD > 1 )); then',
    '    [[ "${COMP_WORDS[1]}" == iprisk ]] || return',
    '    COMP_WORDS=("${COMP_WORDS[@]:1}")',
    '    (( COMP_CWORD-- ))',
    '    _iprisk',
    '  else',
    `    ${replyBash(['iprisk'], '${COMP_WORDS[1]}')}`,
    '  fi',
    '}',
    npxIsFree,
    '  complete -o default -F _iprisk_npx npx',
    'fi',
  ]
}

const npxIsFree = 'if ! complete -p npx > /dev/null 2>&1; then'

const replyBash = (words: readonly string[], begun = '$cur'): string =>
  `COMPREPLY=( $(compgen -W "${words.join(' ')}" -- "${begun}") )`

function zshScript(commands: readonly CompletedCommand[]): readonly string[] {
  const [, ...rest] = bashScript(commands).map((line) =>
    line === npxIsFree ? 'if [[ -z ${_comps[npx]-} ]]; then' : line,
  )
  return [
    '# Completion of iprisk for zsh: source <(iprisk completion zsh), after compinit',
    'autoload -U +X bashcompinit && bashcompinit',
    ...rest,
  ]
}

function fishScript(commands: readonly CompletedCommand[]): readonly string[] {
  const groups = groupsOf(commands)
  const seen = (words: readonly string[]): string =>
    words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
  return [
    '# Completion of iprisk for fish: iprisk completion fish | source',
    'complete -c iprisk -f',
    ...[...groups].map(([first, more]) => {
      const own = commands.find(({ words }) => words.length === 1 && words[0] === first)
      const help = own?.help ?? more.join(', ')
      return `complete -c iprisk -n __fish_use_subcommand -a ${first} -d ${quoteFish(help)}`
    }),
    ...commands.flatMap(({ words, help, options }) => {
      const [first = '', second] = words
      const others = `not __fish_seen_subcommand_from ${(groups.get(first) ?? []).join(' ')}`
      const when = quoteFish(`${seen([first])}; and ${others}`)
      const word =
        second === undefined
          ? []
          : [`complete -c iprisk -n ${when} -a ${second} -d ${quoteFish(help)}`]
      const condition = quoteFish(seen(words))
      return [
        ...word,
        `complete -c iprisk -n ${condition} -l config -r -F`,
        ...options.map((option) => fishOption(option, condition)),
      ]
    }),
    ...commands
      .filter(({ takesFiles }) => takesFiles)
      .map(({ words }) => `complete -c iprisk -n ${quoteFish(seen(words))} -F`),
    // Completes what follows npx and its options as if it stood alone.
    "complete -c npx -n 'not __fish_seen_subcommand_from iprisk' -a iprisk",
    "complete -c npx -n '__fish_seen_subcommand_from iprisk' -f -a " +
      quoteFish('(complete -C (string replace -r "^.*? iprisk" iprisk -- (commandline -cp)))'),
  ]
}

function fishOption(option: Option, condition: string): string {
  const { choices, help } = option
  const value = !takesValue(option)
    ? ''
    : choices !== undefined
      ? ` -x -a ${quoteFish(choices.join(' '))}`
      : isPath(option)
        ? ' -r -F'
        : ' -x'
  const name = optionFlag(option).slice(2)
  return `complete -c iprisk -n ${condition} -l ${name}${value} -d ${quoteFish(help)}`
}

const quoteFish = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
