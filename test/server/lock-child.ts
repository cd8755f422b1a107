/** Takes the lock it is given, says whether it got it, and holds it until it is killed. */
import { lockDataDir } from '../../server/lock.ts'

try {
  lockDataDir(process.argv[2] ?? '', 'the data directory')
  console.log('held')
  setInterval(() => {}, 60_000)
} catch (error) {
  console.log(error instanceof Error ? error.message : 'no error')
}
