import { run } from './program.ts'
import { realIo } from './session/io.ts'

run(process.argv.slice(2), realIo()).then((exitCode) => {
  process.exitCode = exitCode
})
