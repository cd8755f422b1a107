import type { Backup } from '../../shared/backup.ts'
import { pollUntil } from '../api/poll.ts'
import { CliError } from '../base/error.ts'
import { formatSize } from '../base/figures.ts'
import type { Context } from '../session/context.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

export const backupColumns: Column<Backup>[] = [
  { title: 'ID', value: ({ id }) => id, colour: () => 'bold' },
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'STATE', value: ({ status }) => status, colour: ({ status }) => (status === 'available' ? undefined : 'yellow') },
  { title: 'COMPLETED', value: ({ completedAt }) => completedAt ?? '' },
  { title: 'SIZE', value: ({ sizeBytes }) => (sizeBytes === undefined ? '' : formatSize(sizeBytes)), align: 'right' },
  { title: 'VERIFIED', value: ({ verifiedAt }) => (verifiedAt === undefined ? '' : 'yes') },
  { title: 'TRIED OUT', value: ({ restoreSeconds }) => (restoreSeconds === undefined ? '' : `in ${restoreSeconds} s`) },
]

interface Asked {
  isAwaited: boolean
  list(): Promise<Backup[]>
}

/** Tells of a backup that was asked for, when it is there. @throws CliError where it failed, Interrupted on Ctrl-C. */
export async function tellBackup(context: Context, made: Backup, { isAwaited, list }: Asked): Promise<void> {
  if (isAwaited && !context.isJson) context.print(clean`The backup ${made.id} is being taken.`)
  const gone: Backup = { ...made, status: 'failed' }
  const backup = await pollUntil(made, {
    ask: async () => (await list()).find(({ id }) => id === made.id) ?? gone,
    isOver: ({ status }) => !isAwaited || status !== 'creating',
    interrupted: context.io.interrupted,
  })
  if (backup.status === 'failed') throw new CliError('unavailable', `The backup failed: ${backup.reason ?? 'it is gone'}`)
  if (context.isJson) return context.printJson(backup)
  context.print(backup.status === 'creating' ? clean`The backup ${backup.id} is being taken.` : clean`The backup ${backup.id} is complete.`)
}
