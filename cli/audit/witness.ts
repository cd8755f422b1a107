import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CliError } from '../base/error.ts'
import { writePrivateFile } from '../base/private-file.ts'

/** What was seen of the log of one workspace when it was last verified, which no server can take back. */
export interface Witness {
  publicKey: string
  sequence: number
  hash: string
  verifiedAt: string
}

type Witnesses = Record<string, Witness>

export const witnessPath = (credentialsPath: string): string => join(dirname(credentialsPath), 'audit-witness.json')

/** What is remembered of a workspace's log. @throws CliError for a file that is none of ours. */
export const readWitness = async (path: string, workspaceId: string): Promise<Witness | undefined> => (await readAll(path))[workspaceId]

export async function writeWitness(path: string, workspaceId: string, witness: Witness): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify({ ...(await readAll(path)), [workspaceId]: witness }, null, 2)}\n`)
}

async function readAll(path: string): Promise<Witnesses> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw new CliError('internal', `Cannot read ${path}: ${error.message}`, { cause: error })
  })
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && Object.values(value).every(isWitness)) return value as Witnesses
  } catch {}
  throw new CliError('internal', `${path} is not a file of cpctl.`, {
    hint: 'Move it away; what is verified then is remembered anew, and not compared with what was there before.',
  })
}

const isWitness = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'publicKey' in value && 'sequence' in value && 'hash' in value
