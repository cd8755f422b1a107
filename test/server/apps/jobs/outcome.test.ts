import { expect, test } from 'vitest'
import { outcomeOf } from '../../../../server/apps/jobs/outcome.ts'
import type { End } from '../../../../server/engines/port/end.ts'

const free = { stopAs: null, reason: null }
const exit = (changes: Partial<End>): End => ({ exitCode: null, signal: null, ...changes })

test.each([
  [free, exit({ exitCode: 0 }), { phase: 'succeeded', exitCode: 0, reason: null }],
  [free, exit({ exitCode: 2 }), { phase: 'failed', exitCode: 2, reason: 'It exited with code 2.' }],
  [free, exit({ signal: 'SIGSEGV' }), { phase: 'failed', exitCode: null, reason: 'It was ended by SIGSEGV.' }],
  [
    free,
    exit({ signal: 'SIGKILL', why: 'out_of_memory' }),
    { phase: 'failed', exitCode: null, reason: 'It ran out of memory. Run it with a larger plan.' },
  ],
  [free, exit({ why: 'monitor_killed' }), { phase: 'failed', exitCode: null }],
  [
    free,
    exit({ why: 'unseen' }),
    { phase: 'failed', reason: 'The machine or the platform was stopped while it ran, so its end is not known.' },
  ],
  [free, undefined, { phase: 'failed', exitCode: null }],
  [
    { stopAs: 'canceled', reason: 'Canceled on request.' },
    exit({ exitCode: 0 }),
    { phase: 'canceled', exitCode: 0, reason: 'Canceled on request.' },
  ],
  [
    { stopAs: 'failed', reason: 'It took longer than 24 h.' },
    exit({ signal: 'SIGTERM' }),
    { phase: 'failed', reason: 'It took longer than 24 h.' },
  ],
] as const)('a job (%j) whose processes end as %j ends as %j', (job, ended, expected) => {
  expect(outcomeOf(job, ended)).toMatchObject(expected)
})
