import { dirname } from 'node:path'
import type { Command } from 'commander'
import { type Toolchains, type ToolName, toolNames } from '../../builders/toolchains/tool.ts'
import { DEFAULT_TOOLCHAIN_PATH, findToolchains, ownHomes } from '../../builders/toolchains/toolchains.ts'
import { pathsOf } from '../../platform/paths.ts'
import { isCompiled, selfCommand } from '../../platform/process/self.ts'
import { type Examination, examine } from '../doctor/examine.ts'
import { removeLeftovers } from '../doctor/place.ts'
import { renderExamination } from '../doctor/render.ts'
import { isSound } from '../doctor/verdict.ts'
import { askStrays } from '../serve-socket/client.ts'
import type { ListedStray } from '../serve-socket/operations.ts'
import { bucketHere, bucketLines } from './doctor-bucket.ts'
import { doorLines, doorsHere } from './doctor-doors.ts'
import { type FetchedTools, fetchedLines, fetchedTools } from './doctor-fetched.ts'
import { programLines, programsHere } from './doctor-programs.ts'
import { commandWithSettings, configOf } from './settings.ts'
import { summaryOf } from './strays-text.ts'

interface Flags {
  json?: true
  quick?: true
}

/** What this machine can and cannot give, found out by trying; it may run beside a `cpd serve`. Fails when a guarantee is missing or broken. */
export function doctorCommand(): Command {
  const command = commandWithSettings('doctor')
    .description('Attack services of its own to see which guarantees of isolation hold here, and list toolchains')
    .option('--quick', 'Put no pressure on processes (a fork bomb), memory and CPU')
    .option('--json', 'Print JSON, for scripts')
  return command.action(async () => {
    const { json, quick } = command.opts<Flags>()
    const config = configOf(command)
    const { CP_BUILD_PATH, CP_DATA_DIR, CP_MASTER_KEY_FILE } = config
    const stopper = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopper.abort(new Error('Interrupted')))
    const paths = pathsOf(CP_DATA_DIR, CP_MASTER_KEY_FILE)
    await removeLeftovers()
    const examination = await examine({
      paths,
      // By the name it has in sandboxes: where it stands itself may be nobody's to enter but root's.
      redTeamCommand: ['bun', ...selfCommand.slice(1), 'red-team'],
      executable: process.execPath,
      readOnlyBinds: isCompiled ? [] : [dirname(process.execPath), dirname(dirname(Bun.main))],
      isQuick: quick === true,
      progress: (text) => process.stderr.write(`… ${text}\n`),
      signal: stopper.signal,
    })
    // Without a control plane, or with one of before there were such, there is nobody to ask.
    const strays = await askStrays(paths.serveSocket).catch(() => [])
    const toolchains = await findToolchains({ searchPath: [...CP_BUILD_PATH, ...DEFAULT_TOOLCHAIN_PATH], homes: ownHomes() })
    const fetched = await fetchedTools(paths.toolchains, stopper.signal)
    const programs = await programsHere(config)
    const doors = await doorsHere(config)
    const bucket = await bucketHere(config)
    process.stdout.write(
      json === true
        ? `${JSON.stringify({ ...examination, strays, toolchains, fetched, programs, doors, bucket }, null, 2)}\n`
        : textOf(examination, [
            ...strayLines(strays),
            ...toolLines(toolchains, fetched),
            ...programLines(programs),
            ...doorLines(doors),
            ...bucketLines(bucket),
          ]),
    )
    process.exit(isSound(examination.verdicts) ? 0 : 1)
  })
}

const textOf = (examination: Examination, more: readonly string[]): string => `${[...renderExamination(examination), ...more].join('\n')}\n`

const strayLines = (strays: readonly ListedStray[]): string[] => (strays.length === 0 ? [] : ['', 'Strays', `  ${summaryOf(strays)}`])

const toolLines = (toolchains: Toolchains, fetched: FetchedTools): string[] => [
  '',
  'Toolchains',
  ...toolNames.map((name) => toolLine(toolchains, name)),
  ...fetchedLines(fetched),
]

function toolLine({ tools, problems }: Toolchains, name: ToolName): string {
  const tool = tools[name]
  if (tool !== undefined) return `  yes  ${name}: ${tool.directory}`
  return name === 'bun' ? `  yes  ${name}: this executable` : `  no   ${name}: ${problems[name] ?? 'not found'}`
}
