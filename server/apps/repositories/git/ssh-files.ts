import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { SshRemote } from './environment.ts'
import { DEPLOY_KEY_FILE, hostKeyIn, hostOf, KNOWN_HOSTS_FILE, knownHosts, SSH_CONFIG_FILE, sshConfig } from './ssh.ts'

const MAX_KNOWN_BYTES = 16 * 1024
/** git's user may have put anything in the place of the file. */
const ITSELF = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export function sshFiles({ url, address, credential: { privateKey, hostKey } }: SshRemote): Record<string, string> {
  const way = { host: hostOf(url), address, hostKey }
  return { [SSH_CONFIG_FILE]: sshConfig(way), [KNOWN_HOSTS_FILE]: knownHosts(way), [DEPLOY_KEY_FILE]: privateKey }
}

/** Has the key that ssh has met at a host be the only one from now on, before anything is made of what came from there. */
export async function pinSeen(folder: string, remote: SshRemote): Promise<void> {
  if (remote.credential.hostKey !== undefined) return
  const hostKey = await seenHostKey(folder, remote)
  const words = hostKey === undefined ? undefined : remote.credential.pin(hostKey)
  if (words !== undefined) remote.remark(words)
}

async function seenHostKey(folder: string, { url }: Pick<SshRemote, 'url'>): Promise<string | undefined> {
  const file = await open(join(folder, KNOWN_HOSTS_FILE), ITSELF).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    if (!(await file.stat()).isFile()) return undefined
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(MAX_KNOWN_BYTES), position: 0 })
    return hostKeyIn(buffer.toString('utf8', 0, bytesRead), hostOf(url))
  } finally {
    await file.close()
  }
}
