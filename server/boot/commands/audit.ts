import { Command } from 'commander'
import { openAuditSigner } from '../../identity/audit-chain/signer.ts'
import { type VerifiedChain, verifyDatabase } from '../../identity/audit-chain/verify-database.ts'
import { openDatabase } from '../../platform/db/open.ts'
import { lockDataDir } from '../../platform/files/lock.ts'
import { pathsOf } from '../../platform/paths.ts'
import { requireDataDir } from './data-dir.ts'
import { commandWithSettings, configOf } from './settings.ts'

interface Flags {
  publicKey?: string
  json?: true
}

export const auditCommand = (): Command =>
  new Command('audit').description('Check the audit log of a stopped server').addCommand(verifyCommand())

function verifyCommand(): Command {
  const command = commandWithSettings('verify')
    .description('Verify the audit log of every workspace, in a data directory that no server runs on')
    .option('--public-key <key>', 'The key to trust; default: that of the data directory itself')
    .option('--json', 'Print JSON, for scripts')
  return command.action(() => {
    const { CP_DATA_DIR, CP_MASTER_KEY_FILE } = configOf(command)
    const { publicKey, json } = command.opts<Flags>()
    const paths = pathsOf(CP_DATA_DIR, CP_MASTER_KEY_FILE)
    requireDataDir(paths)
    const lock = lockDataDir(paths.lock, paths.data)
    const db = openDatabase(paths.controlDb)
    const key = publicKey ?? openAuditSigner(paths.auditKey).publicKey
    const chains = verifyDatabase(db, key)
    db.close()
    lock.release()
    process.stdout.write(json === true ? `${JSON.stringify({ publicKey: key, chains }, null, 2)}\n` : textOf(chains, key))
    process.exit(chains.every(({ fault }) => fault === undefined) ? 0 : 1)
  })
}

const textOf = (chains: readonly VerifiedChain[], publicKey: string): string =>
  [...chains.map(lineOf), `Public key: ${publicKey}`].map((line) => `${line}\n`).join('')

const lineOf = ({ workspaceId, entries, fault }: VerifiedChain): string =>
  fault === undefined ? `${workspaceId}: intact, ${entries} entries` : `${workspaceId}: tampered with. ${fault.message}`
