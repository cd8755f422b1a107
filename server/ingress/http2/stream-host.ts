import type { RequestHost } from '../exchange/client-request.ts'
import type { DataSender } from './data-sender.ts'

/** What a stream needs of its connection. */
export interface StreamHost extends RequestHost {
  readonly sender: DataSender
  readonly streamWindowBytes: number
  /** So many received bytes have been used. */
  used(bytes: number): void
  /** A DATA frame has gone out. */
  dataSent(isStingy: boolean): void
  /** The stream is over: in order, or because one side has reset it. */
  over(streamId: number, state: 'ended' | 'reset'): void
}
