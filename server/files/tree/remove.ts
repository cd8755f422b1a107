import { rm } from 'node:fs/promises'

/**
 * Removes a file or a folder with everything in it; nothing happens where there is none. The folder above must be ours, whoever owns what is in it:
 * Bun opens each folder relative to the one before and not through links, so what is exchanged for a link meanwhile is removed as a link.
 */
export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
}
