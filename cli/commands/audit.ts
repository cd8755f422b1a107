import type { Command } from 'commander'
import type { AuditEntry } from '../../shared/audit.ts'
import { allPages } from '../api/pages.ts'
import { detailsOf } from '../audit/details.ts'
import { followAudit } from '../audit/follow.ts'
import { labelOf, type NameOf, namesIn } from '../audit/names.ts'
import { saveExport } from '../audit/save.ts'
import { present } from '../base/present.ts'
import { gather, timeBefore, wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean, cleanJsonLine } from '../terminal/text.ts'
import { addVerifyCommand } from './audit-verify.ts'

const DEFAULT_ENTRIES = 50

interface Filters {
  event?: string[]
  actor?: string[]
}

interface ListOptions extends Filters {
  since?: string
  until?: string
  limit: number
}

export function addAuditCommands(program: Command, start: Start): void {
  const time = timeBefore(Date.now)
  const audit = program.command('audit').description('See who did what, and verify that nothing was altered')
  const filtered = (command: Command) =>
    command
      .option('--event <events>', 'Only these events, such as service.updated', gather)
      .option('--actor <actors>', 'Only of these: ids or e-mail addresses', gather)
  filtered(audit.command('list').alias('ls').description('List entries, newest first'))
    .option('--since <time>', 'From then on: 5m, 2h, 1d or a time', time)
    .option('--until <time>', 'Up to then', time)
    .option('-n, --limit <count>', 'How many', wholeNumber(1, 100_000), DEFAULT_ENTRIES)
    .action((options: ListOptions, command: Command) => list(start(command), options))
  filtered(audit.command('follow').description('Show entries as they are written')).action((options: Filters, command: Command) =>
    follow(start(command), options),
  )
  audit
    .command('export')
    .description('Save the whole log, for verification where the server is not')
    .argument('[file]', 'Where to; default: standard output')
    .action((file: string | undefined, _: unknown, command: Command) => saveExport(start(command), file))
  addVerifyCommand(audit, start)
}

const columnsWith = (nameOf: NameOf): Column<AuditEntry>[] => [
  { title: 'TIME', value: ({ timestamp }) => timestamp },
  { title: 'EVENT', value: ({ event }) => event, colour: ({ status }) => (status === 'error' ? 'red' : undefined) },
  { title: 'ACTOR', value: (entry) => actorOf(entry, nameOf), isFlexible: true },
  { title: 'TARGET', value: (entry) => targetOf(entry, nameOf), isFlexible: true },
  { title: 'FROM', value: ({ ip = '' }) => ip },
  { title: 'DETAILS', value: detailsOf, isFlexible: true },
]

/** Requests without a credential that holds are nobody's. */
function actorOf(entry: AuditEntry, nameOf: NameOf): string {
  const { type, id, email } = entry.actor
  if (email !== undefined) return email
  return id === undefined ? (type === 'system' ? type : 'unknown') : labelOf(id, nameOf, { metadata: {} })
}

const targetOf = (entry: AuditEntry, nameOf: NameOf): string => (entry.target === undefined ? '' : labelOf(entry.target, nameOf, entry))

async function list({ client, ...context }: Context, { limit, since: startTime, until: endTime, ...filters }: ListOptions): Promise<void> {
  const wanted = present({ ...filters, startTime, endTime })
  const page = await allPages((query) => client.call('listAuditLogs', { query: { ...query, ...wanted } }), limit)
  const entries = page.map(({ auditLog }) => auditLog)
  const columns = columnsWith(context.isJson ? () => undefined : await namesIn(client, entries))
  printList({ client, ...context }, { page, row: ({ auditLog }) => auditLog, columns, empty: 'No such entries.' })
}

async function follow(context: Context, filters: Filters): Promise<void> {
  const { client, io, isJson } = context
  if (!isJson) context.note('Following the audit log; Ctrl-C ends it.')
  await followAudit({
    client,
    filters: present(filters),
    onEntry: (entry) => context.print(isJson ? cleanJsonLine(entry) : lineOf(entry)),
    signal: io.interrupted,
  })
  io.interrupted.throwIfAborted()
}

/** Entries that come one by one are not looked up one by one. */
const unnamed: NameOf = () => undefined

const lineOf = (entry: AuditEntry): string =>
  [entry.timestamp, entry.event, actorOf(entry, unnamed), targetOf(entry, unnamed), entry.ip, detailsOf(entry)]
    .filter((part) => part !== undefined && part !== '')
    .map((part) => clean`${part ?? ''}`)
    .join('  ')
