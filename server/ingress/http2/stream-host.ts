import type { RequestHost } from '../exchange/client-request.ts'
import type { DataSender } from './data-sender.ts'

export interface StreamHost extends RequestHost {
  readonly sender: DataSender
  readonly streamWindowBytes: number
  used(bytes: number): void
  dataSent(isStingy: boolean): void
  over(streamId: number, state: 'ended' | 'reset'): void
}
