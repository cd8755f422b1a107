import { NEW_DATABASE } from '../../../../../server/apps/postgres/roles.ts'
import type { FakeMachine, FakeVolume } from '../../../../../server/engines/fake/machine.ts'
import type { KeyValueServers } from '../../../../../server/platform/key-value/port.ts'
import type { ConnectPostgres, SqlRow } from '../../../../../server/platform/postgres/connect.ts'
import { AppError } from '../../../../../shared/error.ts'
import { COPY, DATA_OF, ROWS, rowsIn, serverAt } from './machine.ts'

const SLOT = 'slot:'

/** What servers of a fake machine answer to the platform's own questions about replication, by a part of the question. */
const answers: readonly { asked: RegExp; answer(volume: FakeVolume, name: string, machine: FakeMachine): SqlRow[] }[] = [
  { asked: /pg_create_physical_replication_slot\('(.*?)'/, answer: ({ files }, name) => nothing(files.set(`${SLOT}${name}`, '')) },
  { asked: /pg_drop_replication_slot.*slot_name = '(.*?)'/, answer: ({ files }, name) => nothing(files.delete(`${SLOT}${name}`)) },
  { asked: /FROM pg_replication_slots WHERE slot_type/, answer: slotRows },
  { asked: /pg_ls_waldir/, answer: () => [{ name: '000000010000000000000001' }] },
  { asked: /AS is_replayed/, answer: () => [{ is_replayed: 'true' }] },
  { asked: /pg_current_wal_flush_lsn/, answer: (volume) => [{ lsn: lsnOf(volume) }] },
  { asked: /pg_last_wal_receive_lsn/, answer: positionRows },
  { asked: /FROM pg_control_checkpoint/, answer: checkpointRows },
  { asked: /SELECT datname FROM pg_database/, answer: () => [{ datname: NEW_DATABASE }] },
]

const nothing = (_: unknown): SqlRow[] => []

function slotRows({ files }: FakeVolume): SqlRow[] {
  const names = [...files.keys()].filter((name) => name.startsWith(SLOT))
  return names.map((name) => ({ slot_name: name.slice(SLOT.length), active: 'f', wal_status: 'reserved' }))
}

function positionRows(volume: FakeVolume): SqlRow[] {
  return volume.files.has(COPY) ? [{ received: lsnOf(volume), replayed: lsnOf(volume), committed_at: null }] : []
}

/** The last checkpoint of a primary is where what it wrote last is. */
function checkpointRows(volume: FakeVolume, _: string, { volumes }: FakeMachine): SqlRow[] {
  const primaryId = volume.files.get(DATA_OF)
  const primary = [...volumes.values()].find((one) => one !== volume && one.owner.id === primaryId)
  const hasAll = primary !== undefined && rowsIn(primary) === rowsIn(volume)
  return [
    { checkpoint: lsnOf(volume), redo: lsnOf(volume), replayed: hasAll ? lsnOf({ ...volume, files: withOneMore(volume) }) : lsnOf(volume) },
  ]
}

const withOneMore = (volume: FakeVolume): FakeVolume['files'] => new Map([[ROWS, String(rowsIn(volume) + 1)]])

const lsnOf = (volume: FakeVolume): string => `0/${(0x2_000_000 + rowsIn(volume)).toString(16)}`

export const connectIn =
  (machine: FakeMachine): ConnectPostgres =>
  async (target) => {
    const known = () => serverAt(machine, target) ?? refused(target)
    known()
    return {
      run: async (sql) => {
        const volume = known()
        for (const { asked, answer } of answers) {
          const found = asked.exec(sql)
          if (found !== null) return answer(volume, found[1] ?? '', machine)
        }
        return []
      },
      close: async () => {},
    }
  }

function refused({ host, port }: { host: string; port: number }): never {
  throw new Error(`Nobody listens at ${host}:${port}`)
}

const INFO = 'loading:0\r\naof_enabled:1\r\naof_last_bgrewrite_status:ok\r\naof_last_write_status:ok\r\n'

export const keyValueServersIn = (machine: FakeMachine): KeyValueServers => ({
  async use(at, _, act) {
    if (serverAt(machine, at) === undefined) throw new AppError('unavailable', 'Nobody answers')
    return await act(async ([name]) => (name === 'INFO' ? INFO : 'OK'))
  },
  async *snapshot() {},
})
