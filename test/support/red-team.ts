import { resolve } from 'node:path'

/** The program of `cpd doctor` that tries to break out, as one file for a hostile app to load. */
export async function redTeamProgram(): Promise<string> {
  const entry = resolve('server/boot/doctor/red-team/try-everything.ts')
  const { success, outputs, logs } = await Bun.build({ entrypoints: [entry], target: 'bun' })
  const [program] = outputs
  if (!success || program === undefined) throw new Error(`Not built: ${logs.join('\n')}`)
  return await program.text()
}
