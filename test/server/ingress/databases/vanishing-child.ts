import { connect } from 'node:tls'
import { startup } from './packets.ts'
import { KV_HOST, KV_ID, PG_HOST } from './world.ts'

/** Logs in at both ports, says so, and then nothing more. Arguments: host, port of Postgres, port of key-value stores. */
const [host = '', postgresPort, keyValuePort] = process.argv.slice(2)

const letIn = (port: number, servername: string, first: Buffer | string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, servername, ALPNProtocols: ['postgresql'], rejectUnauthorized: false })
    socket.on('secureConnect', () => void socket.write(first))
    socket.on('data', () => resolve())
    socket.on('error', reject)
  })

await letIn(Number(postgresPort), PG_HOST, startup({ user: 'ada', database: 'shop' }))
await letIn(Number(keyValuePort), KV_HOST, `AUTH ${KV_ID} word\r\n`)
console.log('in')
