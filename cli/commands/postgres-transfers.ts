import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Command } from 'commander'
import type { PostgresExport, PostgresImport } from '../../shared/postgres-transfer.ts'
import { CliError, usageError } from '../base/error.ts'
import { formatSize } from '../base/figures.ts'
import { resolvePostgres } from '../finding/postgres.ts'
import { untilEnded } from '../postgres/await-transfer.ts'
import { download } from '../postgres/download.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

interface ExportOptions {
  output?: string
  wait: boolean
}

interface ImportOptions {
  fromUrl?: string
  clean?: boolean
  wait: boolean
}

const exportDetails = `
The file is a tar.gz of a directory dump: unpack it, and pg_restore reads the folder. The server keeps it for 7 days.`

const importDetails = `
It is all in one transaction, so nothing of it is in the database when it fails. What is made belongs to the first user of the database.
A FILE is what pg_dump makes, in any format, also as gzip or zstd. --from-url reads another database, such as one at Render, Heroku
or RDS; with - in its place the URL is read from standard input, so that no list of processes shows its password.

Examples:
  $ cpctl postgres import shop shop.dump
  $ cpctl postgres import shop --from-url "$OLD_DATABASE_URL"
  $ echo "$OLD_DATABASE_URL" | cpctl postgres import shop --from-url - --clean`

export function addPostgresTransferCommands(postgres: Command, start: Start): void {
  const of = (name: string, description: string) => postgres.command(name).description(description).argument('<database>', 'Name or id')
  of('export', 'Export a database into a file')
    .option('--output <file>', 'Where it is saved; default: <database>-<day>.tar.gz')
    .option('--no-wait', 'Only have the server make it')
    .addHelpText('after', exportDetails)
    .action((name: string, options: ExportOptions, command: Command) => exportDatabase(start(command), name, options))
  of('import', 'Import a dump or another database')
    .argument('[file]', 'A dump')
    .option('--from-url <url>', 'Connection string of the other database, or - to read it from standard input')
    .option('--clean', 'Drop first what is in the way')
    .option('--no-wait', 'Do not wait until it is in')
    .addHelpText('after', importDetails)
    .action((name: string, file: string | undefined, options: ImportOptions, command: Command) =>
      importInto(start(command), name, { file, ...options }),
    )
}

async function exportDatabase(context: Context, nameOrId: string, { output, wait }: ExportOptions): Promise<void> {
  const { id: postgresId, name } = await resolvePostgres(context, nameOrId)
  const file = resolve(context.io.cwd, output ?? `${name}-${new Date(context.io.now()).toISOString().slice(0, 10)}.tar.gz`)
  if (wait && existsSync(file)) throw usageError(`There is a file ${file} already. Name another with --output.`)
  const params = { postgresId }
  const begun = await context.client.call('createPostgresExport', { params })
  const made = wait ? await untilEnded(context, begun, () => exportOf(context, postgresId, begun.id)) : begun
  if (wait) await download(context, { made, path: `/v1/postgres/${postgresId}/export/${made.id}/file`, file })
  if (context.isJson) return context.printJson(wait ? { ...made, file } : made)
  context.print(wait ? clean`${name} is in ${file} (${formatSize(made.sizeBytes ?? 0)}).` : clean`The export ${made.id} is being made.`)
}

async function exportOf({ client }: Context, postgresId: string, id: string): Promise<PostgresExport> {
  const found = (await client.call('listPostgresExports', { params: { postgresId } })).find((one) => one.id === id)
  if (found === undefined) throw new CliError('not_found', `The export ${id} was deleted meanwhile.`)
  return found
}

type Import = ImportOptions & { file: string | undefined }

async function importInto(context: Context, nameOrId: string, { file, fromUrl, clean: isClean = false, wait }: Import): Promise<void> {
  if ((file === undefined) === (fromUrl === undefined)) throw usageError('Give either a file or --from-url.')
  const { id: postgresId, name } = await resolvePostgres(context, nameOrId)
  const begun =
    file === undefined
      ? await fromDatabase(context, postgresId, { url: fromUrl ?? '', clean: isClean })
      : await fromFile(context, postgresId, { file, isClean })
  const ask = () => context.client.call('getPostgresImport', { params: { postgresId, importId: begun.id } })
  const made = wait ? await untilEnded(context, begun, ask) : begun
  if (context.isJson) return context.printJson(made)
  if (!wait) return context.print(clean`The import ${made.id} is under way.`)
  context.print(clean`All of ${made.host ?? basename(file ?? '')} is in ${name}.`)
  for (const skipped of made.skipped) context.print(clean`Left out: ${skipped}.`)
}

async function fromDatabase({ client, io }: Context, postgresId: string, body: { url: string; clean: boolean }): Promise<PostgresImport> {
  const url = body.url === '-' ? (await io.stdin.text()).trim() : body.url
  return await client.call('startPostgresImport', { params: { postgresId }, body: { ...body, url } })
}

async function fromFile(
  context: Context,
  postgresId: string,
  { file: named, isClean }: { file: string; isClean: boolean },
): Promise<PostgresImport> {
  const file = resolve(context.io.cwd, named)
  const stats = await stat(file).catch(() => undefined)
  if (stats === undefined) throw usageError(`There is no file ${file}.`)
  if (!stats.isFile()) throw usageError(`${file} is no file. A directory dump is sent as a tar: tar -czf dump.tar.gz ${file}`)
  context.note(clean`Sending ${file}, ${formatSize(stats.size)}`)
  return await context.client.upload('uploadPostgresDump', {
    params: { postgresId },
    query: { clean: String(isClean) },
    contentType: 'application/octet-stream',
    open: () => Bun.file(file).stream(),
  })
}
