import type { Header } from '../message/header.ts'
import type { ClientSide } from './exchange.ts'

export interface LocalResponse {
  status: number
  headers: readonly Header[]
  body: Buffer
}

export function respond(client: ClientSide, method: string, { status, headers, body }: LocalResponse): void {
  const isKeptAlive = client.keepsAlive
  client.hold()
  client.writeLocalHead({ status, headers, lengthBytes: body.length }, isKeptAlive)
  if (method !== 'HEAD') client.write(body)
  client.release()
  client.finish(isKeptAlive)
}
