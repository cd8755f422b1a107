import { homedir } from 'node:os'
import type { Command } from 'commander'
import { type Toolchains, type ToolName, toolNames } from '../builders/tool.ts'
import { DEFAULT_TOOLCHAIN_PATH, findToolchains } from '../builders/toolchains.ts'
import type { Guarantee } from '../engines/port.ts'
import { guaranteesOf, probeHost, usableCgroups } from '../engines/process/host.ts'
import { commandWithSettings, configOf } from './settings.ts'

/** What this machine can and cannot give, found out by trying; it may run beside a `cpd serve`. Fails when a guarantee is missing. */
export function doctorCommand(): Command {
  const command = commandWithSettings('doctor').description('Show what this machine guarantees of isolation, and which toolchains it has')
  return command.action(async () => {
    const { CP_BUILD_PATH } = configOf(command)
    const guarantees = await probeGuarantees()
    const toolchains = await findToolchains({ searchPath: [...CP_BUILD_PATH, ...DEFAULT_TOOLCHAIN_PATH], homes: [homedir()] })
    const lines = ['Isolation', ...guarantees.map(guaranteeLine), '', 'Toolchains', ...toolNames.map((name) => toolLine(toolchains, name))]
    process.stdout.write(`${lines.join('\n')}\n`)
    process.exitCode = guarantees.every(({ holds }) => holds) ? 0 : 1
  })
}

/** Under a label of its own: the control groups of a `cpd serve` that runs are not to be touched. */
async function probeGuarantees(): Promise<Guarantee[]> {
  const host = await probeHost({ label: `cpd-doctor-${process.pid}` })
  usableCgroups(host)?.close()
  return guaranteesOf(host)
}

const guaranteeLine = ({ title, holds, reason }: Guarantee): string => lineOf(holds, title, reason)

function toolLine({ tools, problems }: Toolchains, name: ToolName): string {
  const tool = tools[name]
  if (tool !== undefined) return lineOf(true, name, tool.directory)
  return name === 'bun' ? lineOf(true, name, 'this executable') : lineOf(false, name, problems[name] ?? 'not found')
}

const lineOf = (isThere: boolean, what: string, remark: string | undefined): string =>
  `  ${isThere ? 'yes' : 'no '}  ${what}${remark === undefined ? '' : `: ${remark}`}`
