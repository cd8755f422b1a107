/** Run as a worker: ends the program when one input has been tried for too long, and prints it. */
export interface Watched {
  /** Counts inputs. */
  counter: SharedArrayBuffer
  /** The length of the present input in two bytes, and its bytes. */
  input: SharedArrayBuffer
}

const LIMIT_MS = 20_000

function watch({ counter, input }: Watched): void {
  const count = new Int32Array(counter)
  const bytes = new Uint8Array(input)
  let last = 0
  setInterval(() => {
    if (count[0] === last && last > 0) {
      const length = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8)
      console.error(
        `HANG: input ${last} has not ended within ${LIMIT_MS} ms: ${Buffer.from(bytes.slice(2, 2 + length)).toString('base64')}`,
      )
      process.exit(3)
    }
    last = count[0] ?? 0
  }, LIMIT_MS)
}

if (!Bun.isMainThread) addEventListener('message', (event: MessageEvent<Watched>) => watch(event.data))
