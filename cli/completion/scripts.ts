import type { Place, Word } from './tree.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export function completionScript(shell: Shell, program: string, places: readonly Place[]): string {
  return scripts[shell](program, places)
}

const scripts: Record<Shell, (program: string, places: readonly Place[]) => string> = { bash, zsh, fish }

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const texts = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ')
const knownPaths = (places: readonly Place[]): string =>
  places
    .filter(({ path }) => path !== '')
    .map(({ path }) => quote(path))
    .join('|')

/** Shell code that finds the deepest known command among the words before the cursor, into `place`: in zsh, `path` is the search path. */
const findPath = (words: string, places: readonly Place[]): string => `  local place='' word
  for word in ${words}; do
    case "\${place:+$place }$word" in
      ${knownPaths(places)}) place="\${place:+$place }$word" ;;
    esac
  done`

function bash(program: string, places: readonly Place[]): string {
  const cases = places.map(
    ({ path, commands, options }) => `    ${quote(path)}) commands=${quote(texts(commands))} options=${quote(texts(options))} ;;`,
  )
  return `# bash completion of ${program}: eval "$(${program} completion bash)"
_${program}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" commands='' options=''
${findPath(`"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`, places)}
  case "$place" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}
complete -o default -F _${program} ${program}
`
}

function zsh(program: string, places: readonly Place[]): string {
  const described = (words: readonly Word[]) =>
    words.map(({ text, description }) => quote(`${text.replaceAll(':', '\\:')}:${description}`)).join(' ')
  const cases = places.map(
    ({ path, commands, options }) => `    ${quote(path)})
      commands=(${described(commands)})
      options=(${described(options)}) ;;`,
  )
  return `#compdef ${program}
# zsh completion of ${program}: eval "$(${program} completion zsh)"
_${program}() {
  local -a commands options
${findPath(`"\${words[@]:1:$((CURRENT-2))}"`, places)}
  case "$place" in
${cases.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe option options
  elif (( \${#commands} )); then
    _describe command commands
  else
    _files
  fi
}
compdef _${program} ${program}
`
}

function fish(program: string, places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    const condition = `-n ${quote(`test (__${program}_path) = "${path}"`)}`
    return [
      ...commands.map(({ text, description }) => `complete -c ${program} ${condition} -f -a ${quote(text)} -d ${quote(description)}`),
      ...options.map(({ text, description }) => `complete -c ${program} ${condition} -l ${text.slice(2)} -d ${quote(description)}`),
    ]
  })
  return `# fish completion of ${program}: ${program} completion fish | source
function __${program}_path
    set -l path ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim "$path $word")
        contains -- "$next" ${places
          .filter(({ path }) => path !== '')
          .map(({ path }) => quote(path))
          .join(' ')}
        and set path $next
    end
    echo "$path"
end
${lines.join('\n')}
`
}
