/** Takes the lock it is given, says whether it got it, and holds it until it is killed. */
import { lockDataDir } from '../../../../server/platform/files/lock.ts'

try {
  const lock = lockDataDir(process.argv[2] ?? '', 'the data directory')
  // Never comes to it, and keeps the lock from the garbage collector.
  setTimeout(() => lock.release(), 600_000)
  console.log('held')
} catch (error) {
  console.log(error instanceof Error ? error.message : 'no error')
}
