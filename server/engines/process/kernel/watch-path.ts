import { watch } from 'node:fs'

/** Calls back when a file, or something in a folder, has changed, until the returned function is called. Where the machine cannot tell, never. */
export function watchPath(path: string, onChange: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    return () => {}
  }
}
