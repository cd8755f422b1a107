import { afterEach, expect } from 'vitest'
import { type Answers, type FakeServer, type Received, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

/** Command lines run against a server that a test describes by its answers, the latest of them. What breaks the contract fails the test. */
export interface ServerPerTest {
  /** Starts the server, and gives what runs a command line against it. */
  on(answers: Answers, options?: TerminalOptions): (...argv: string[]) => ReturnType<typeof cpctl>
  received(): Received[]
  /** For a test that goes on with another. */
  stop(): Promise<void>
}

export function serverPerTest(): ServerPerTest {
  let server: FakeServer | undefined
  const stop = async () => {
    await server?.stop()
    server = undefined
  }
  afterEach(async () => {
    expect(server?.breaches ?? []).toEqual([])
    await stop()
  })
  return {
    on(answers, options = {}) {
      const started = startFakeServer(answers)
      server = started
      return (...argv) => cpctl(argv, { ...options, env: { CPCTL_URL: started.url, CPCTL_TOKEN: 'cpk_test', ...options.env } })
    },
    received: () => server?.received ?? [],
    stop,
  }
}
