/** What releases of the chaos tests run, in the language of engines/fake/program.ts. */
export const lasting = {
  good: 'listen; serve',
  slow: 'wait 3000; listen; serve',
  deaf: 'deaf; listen; serve',
} as const

/** Releases that never become healthy. */
export const failing = {
  crashing: 'wait 100; exit 1',
  silent: 'deaf; serve',
  sick: 'listen; answer 500; serve',
  broken: 'listen; answer nothing; serve',
  killed: 'oom',
} as const

/** Releases that die when they have served for a while. */
export const ailing = {
  mortal: 'listen; wait 20000; exit 1',
  leaking: 'listen; wait 7000; oom',
} as const

export const commands = ['wait 500; exit 0', 'exit 3', 'wait 4000; exit 0', 'deaf; serve', 'die SIGSEGV'] as const
