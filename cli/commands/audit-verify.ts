import type { Command } from 'commander'
import { openExport } from '../audit/save.ts'
import { type VerificationReport, verifyExport } from '../audit/verify.ts'
import { readWitness, witnessPath, writeWitness } from '../audit/witness.ts'
import { CliError, exitCodes, RemoteExit } from '../base/error.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

interface VerifyOptions {
  against?: string
  publicKey?: string
}

export function addVerifyCommand(audit: Command, start: Start): void {
  audit
    .command('verify')
    .description('Verify that no entry was altered, removed, moved or put in, and that the log still holds what it held last time')
    .argument('[export]', 'File of cpctl audit export; default: ask the server')
    .option('--against <export>', 'An earlier export, whose entries must still be there')
    .option('--public-key <key>', 'The key to trust; default: the one of the first verification')
    .action((file: string | undefined, options: VerifyOptions, command: Command) => verify(start(command), file, options))
}

async function verify(context: Context, file: string | undefined, { against, publicKey }: VerifyOptions): Promise<void> {
  const path = witnessPath(context.settings.credentialsPath)
  const earlier = against === undefined ? undefined : await openFile(against)
  const report = await verifyExport({
    stream: file === undefined ? await openExport(context) : await openFile(file),
    publicKey,
    against: earlier,
    isLive: file === undefined,
    witnessOf: (workspaceId) => readWitness(path, workspaceId),
  })
  if (report.isIntact && file === undefined) await remember(context, path, report)
  tell(context, report)
}

/** What was verified now must still be there next time. */
async function remember({ io }: Context, path: string, { workspaceId, publicKey, last }: VerificationReport): Promise<void> {
  if (last !== undefined) await writeWitness(path, workspaceId, { publicKey, ...last, verifiedAt: new Date(io.now()).toISOString() })
}

function tell(context: Context, report: VerificationReport): void {
  if (context.isJson) {
    context.printJson(report)
    if (!report.isIntact) throw new RemoteExit({ exitCode: exitCodes.failed, signal: null })
    return
  }
  const { fault, entries, last, publicKey, keyFrom } = report
  if (fault !== undefined)
    throw new CliError('conflict', `The audit log was tampered with. ${fault.message}`, {
      hint:
        last === undefined
          ? 'Nothing of it can be trusted.'
          : `Up to entry ${last.sequence} it is as it was written, as far as its hashes tell.`,
    })
  context.print(clean`The audit log is intact: ${entries} entries, the last is ${last?.sequence ?? 'none'}.`)
  context.print(clean`Public key: ${publicKey}`)
  if (keyFrom === 'export') context.note(unknownKey)
}

const unknownKey =
  'The key came with the log and was not known before; compare it with that of an earlier verification, or give it with --public-key.'

async function openFile(path: string): Promise<ReadableStream<Uint8Array>> {
  const file = Bun.file(path)
  if (!(await file.exists())) throw new CliError('not_found', `There is no file ${path}.`, { hint: 'cpctl audit export <file> makes one.' })
  return file.stream()
}
