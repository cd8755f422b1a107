import type { Command } from 'commander'
import type { KeyValueStats } from '../../shared/key-value.ts'
import { formatSize, formatTook } from '../base/figures.ts'
import { resolveKeyValue } from '../finding/key-value.ts'
import type { Context, Start } from '../session/context.ts'
import { printTable } from '../session/output.ts'
import { type Column, formatFields } from '../terminal/table.ts'
import type { OfStore } from './key-value.ts'

export function addKeyValueTopCommand(of: OfStore, start: Start): void {
  of('top', 'Show what a key-value store holds and does now')
    .alias('stats')
    .action((name: string, _: unknown, command: Command) => top(start(command), name))
}

const columns: Column<KeyValueStats['commands'][number]>[] = [
  { title: 'COMMAND', value: ({ command }) => command, colour: () => 'bold' },
  { title: 'CALLS', value: ({ calls }) => String(calls), align: 'right' },
  { title: 'TOTAL', value: ({ totalMs }) => formatTook(totalMs), align: 'right' },
  { title: 'EACH', value: ({ calls, totalMs }) => `${((totalMs * 1000) / Math.max(1, calls)).toFixed(1)} µs`, align: 'right' },
  { title: 'FAILED', value: ({ failed }) => (failed === 0 ? '' : String(failed)), align: 'right', colour: () => 'yellow' },
]

async function top(context: Context, nameOrId: string): Promise<void> {
  const { id } = await resolveKeyValue(context, nameOrId)
  const stats = await context.client.call('getKeyValueStats', { params: { keyValueId: id } })
  if (context.isJson) return context.printJson(stats)
  const { connections, connectionLimit, usedMemoryBytes, maxMemoryBytes, keys, hits, misses, hitRatio, evictions, expirations } = stats
  const share = maxMemoryBytes === 0 ? '' : ` (${((usedMemoryBytes / maxMemoryBytes) * 100).toFixed(1)} %)`
  const fields: [string, string][] = [
    ['Memory', `${formatSize(usedMemoryBytes)} of ${formatSize(maxMemoryBytes)}${share}`],
    ['Keys', `${keys}, ${evictions} evicted, ${expirations} expired`],
    ['Lookups', `${hits} found, ${misses} not${hitRatio === null ? '' : ` (${(hitRatio * 100).toFixed(1)} % found)`}`],
    ['Connections', `${connections} of ${connectionLimit}`],
    ['Version', stats.version],
  ]
  context.io.stdout.write(formatFields(fields, context.paint))
  if (stats.commands.length > 0) printTable(context, columns, stats.commands)
}
