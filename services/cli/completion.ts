import type { Command, Option } from 'commander'
import type { Fault } from '../../domain/kernel/fault.ts'
import { orderings, strategies } from '../../domain/policy/allocation-policy.ts'
import { outputs } from '../../infra/host/configuration.ts'
import { timeUnits } from '../../infra/traces/column-map.ts'
import { traceFormats } from '../../infra/traces/trace.ts'
import { exitCodes } from './exit.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { oneOf, refuseFlags } from './trace-options.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/** Registers `completion`. */
export const registerCompletion: Register = (program, context) => {
  program
    .command('completion')
    .argument('<shell>', shells.join(', '))
    .description('a script that completes verbs and flags in a shell')
    .addHelpText('after', examples)
    .action(
      verb(context, async (session, given: string) => {
        const faults: Fault[] = []
        const shell = oneOf('shell', given, shells, faults)
        refuseFlags(faults)
        await session.write(scripts[shell!](nodesOf(program)))
        return exitCodes.done
      }),
    )
}

const examples = `
It completes \`leasehold\`, which \`npm link\` in the clone puts on your path.

Examples:
  eval "$(leasehold completion bash)"                  in ~/.bashrc
  eval "$(leasehold completion zsh)"                   in ~/.zshrc, after compinit
  leasehold completion fish > ~/.config/fish/completions/leasehold.fish`

/** Flags whose values are words of a list; of the others that take one, files are offered. */
const choices: { readonly [flag: string]: ReadonlyArray<string> } = {
  '--output': outputs,
  '--ordering': orderings,
  '--placement': strategies,
  '--format': traceFormats,
  '--time-unit': timeUnits,
  '--clock': ['wall', 'events'],
  '--adapter': ['embedded', 'http', 'none'],
}

/** A verb, by the words that lead to it from the program on. */
interface Node {
  readonly path: ReadonlyArray<string>
  readonly verbs: ReadonlyArray<{ readonly name: string; readonly what: string }>
  readonly flags: ReadonlyArray<Flag>
}
interface Flag {
  readonly long: string
  readonly short: string | null
  readonly what: string
  readonly takesValue: boolean
}

const nodesOf = (program: Command): ReadonlyArray<Node> => {
  const shared = program.options.filter(({ long }) => long !== '--version').map(flagOf)
  const walk = (command: Command, path: ReadonlyArray<string>): ReadonlyArray<Node> => {
    const verbs = command.commands.map((each) => ({ name: each.name(), what: firstClause(each.description()) }))
    const named = command.name() === 'completion' ? shells.map((name) => ({ name, what: `for ${name}` })) : []
    const own = command === program ? [] : command.options.map(flagOf)
    return [
      { path, verbs: [...verbs, ...named], flags: [...own, ...shared, help] },
      ...command.commands.flatMap((each) => walk(each, [...path, each.name()])),
    ]
  }
  return walk(program, [program.name()])
}

const help: Flag = { long: '--help', short: '-h', what: 'show what it takes', takesValue: false }

const flagOf = ({ description, long, required, optional, short }: Option): Flag => ({
  long: long!,
  short: short ?? null,
  what: firstClause(description),
  takesValue: required || optional,
})

/** Plain enough to stand between quotes in any shell. */
const firstClause = (text: string): string =>
  text
    .split(/[;(:]/, 1)[0]!
    .replaceAll(/['"`$\\]/g, '')
    .trim()

const wordsOf = ({ flags, verbs }: Node): string =>
  [
    ...verbs.map(({ name }) => name),
    ...flags.flatMap(({ long, short }) => (short === null ? [long] : [long, short])),
  ].join(' ')

const spelt = ({ long, short }: Flag): ReadonlyArray<string> => (short === null ? [long] : [short, long])

/** Of all verbs: what may follow a flag. */
const valuesOf = (nodes: ReadonlyArray<Node>) => {
  const flags = new Map(nodes.flatMap((node) => node.flags).map((flag) => [flag.long, flag]))
  const taking = [...flags.values()].filter(({ takesValue }) => takesValue)
  return {
    listed: taking.filter(({ long }) => long in choices),
    others: taking.filter(({ long }) => !(long in choices) && long !== '--watch' && long !== '--wait'),
  }
}

const pathsBelow = (nodes: ReadonlyArray<Node>): string =>
  nodes
    .slice(1)
    .map(({ path }) => path.join('/'))
    .join('|')

const bash = (nodes: ReadonlyArray<Node>): string => {
  const { listed, others } = valuesOf(nodes)
  return `_leasehold() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" path=leasehold words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path/\${COMP_WORDS[i]}" in
      ${pathsBelow(nodes)}) path="$path/\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$prev" in
${listed.map((flag) => `    ${spelt(flag).join('|')}) COMPREPLY=($(compgen -W '${choices[flag.long]!.join(' ')}' -- "$cur")); return ;;`).join('\n')}
    ${others.flatMap(spelt).join('|')}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case "$path" in
${nodes.map((node) => `    ${node.path.join('/')}) words='${wordsOf(node)}' ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _leasehold leasehold
`
}

const zsh = (nodes: ReadonlyArray<Node>): string => {
  const { listed, others } = valuesOf(nodes)
  return `#compdef leasehold
_leasehold() {
  local at=leasehold word
  local -a offered
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at/$word" in
      (${pathsBelow(nodes)}) at="$at/$word" ;;
    esac
  done
  case "\${words[CURRENT-1]}" in
${listed.map((flag) => `    (${spelt(flag).join('|')}) compadd -- ${choices[flag.long]!.join(' ')}; return ;;`).join('\n')}
    (${others.flatMap(spelt).join('|')}) _files; return ;;
  esac
  case "$at" in
${nodes.map((node) => `    (${node.path.join('/')}) offered=(${wordsOf(node)}) ;;`).join('\n')}
  esac
  compadd -- $offered
  _files
}
compdef _leasehold leasehold
`
}

const fish = (nodes: ReadonlyArray<Node>): string =>
  nodes
    .flatMap((node) => {
      const [, ...words] = node.path
      const here =
        words.length === 0
          ? '__fish_use_subcommand'
          : words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
      const unlessDeeper =
        node.verbs.length === 0 || words.length === 0
          ? here
          : `${here}; and not __fish_seen_subcommand_from ${node.verbs.map(({ name }) => name).join(' ')}`
      return [
        ...node.verbs.map(({ name, what }) => `complete -c leasehold -n '${unlessDeeper}' -f -a ${name} -d '${what}'`),
        ...node.flags.map((flag) => `complete -c leasehold -n '${here}' ${fishFlag(flag)}`),
      ]
    })
    .map((line) => `${line}\n`)
    .join('')

const fishFlag = ({ long, short, takesValue, what }: Flag): string => {
  const values = choices[long]
  const value = values !== undefined ? ` -x -a '${values.join(' ')}'` : takesValue ? ' -r' : ''
  return `${short === null ? '' : `-s ${short.slice(1)} `}-l ${long.slice(2)}${value} -d '${what}'`
}

const scripts: { readonly [S in Shell]: (nodes: ReadonlyArray<Node>) => string } = { bash, zsh, fish }
