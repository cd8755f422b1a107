/** Runs the red team as an ordinary user with nothing in its way, and prints what came of it. Its one argument is the targets. */
import { tryEverything } from '../../../../server/boot/doctor/red-team/try-everything.ts'

if (import.meta.main) {
  process.stdout.write(JSON.stringify(await tryEverything(JSON.parse(process.argv[2] ?? ''))))
  process.exit(0)
}
