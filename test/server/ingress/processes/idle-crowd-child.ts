/** Opens connections and says nothing on them. Arguments: port, how many. Prints `open` once all are, and `closed` once the other side has closed all. */
const [port, count] = process.argv.slice(2).map(Number)
const AT_ONCE = 100

let closed = 0
const socket = {
  data() {},
  close() {
    if (++closed === count) {
      console.log('closed')
      process.exit(0)
    }
  },
}
for (let opened = 0; opened < (count ?? 0); opened += AT_ONCE) {
  await Promise.all(Array.from({ length: AT_ONCE }, () => Bun.connect({ hostname: '127.0.0.1', port: port ?? 0, socket })))
}
console.log('open')

export {}
