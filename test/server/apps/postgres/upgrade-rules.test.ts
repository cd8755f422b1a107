import { describe, expect, test } from 'vitest'
import {
  refuseFullDisk,
  refuseVersion,
  refuseWithoutRoom,
  requireWayBack,
  verdictIn,
} from '../../../../server/apps/postgres/upgrade-rules.ts'
import type { StoredUpgrade } from '../../../../server/apps/postgres/upgrade-store.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

describe('the version that is asked for', () => {
  const refused = (to: string, majors = ['18', '17', '15']) => {
    try {
      refuseVersion({ name: 'shop', from: '17', to, majors })
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  test('is a newer one that the server has', () => {
    expect(refused('18')).toBeUndefined()
    expect(refused('17')).toContain('is of PostgreSQL 17 already. It can be brought to 18.')
    expect(refused('16')).toContain('has no PostgreSQL 16. It can be brought to 18.')
    expect(refused('banana')).toContain('has no PostgreSQL banana')
    expect(refused('18', ['17'])).toContain('This server has no newer one.')
  })

  test('is none that a database would have to go back to', () => {
    expect(refused('15')).toContain('goes back from PostgreSQL 17 to 15')
  })
})

describe('room', () => {
  test('is asked for on the disk of the database, and on that of the server', () => {
    expect(() => refuseFullDisk('shop', { usedBytes: 800 * MIB, sizeBytes: GIB })).not.toThrow()
    expect(() => refuseFullDisk('shop', { usedBytes: 964 * MIB, sizeBytes: GIB })).toThrow('The disk of shop lacks 100 MiB')
    const free = { name: 'shop', freeBytes: GIB }
    expect(() => refuseWithoutRoom({ ...free, contentBytes: GIB }, 'kept')).not.toThrow()
    expect(() => refuseWithoutRoom({ ...free, contentBytes: 3 * GIB }, 'kept')).toThrow(
      "3.0 GiB on the server's disk. It has 1.0 GiB for that: 2.0 GiB are",
    )
  })
})

describe('the way back', () => {
  const datastore = { name: 'shop', volumeId: 'dsk-1' }
  const upgrade: StoredUpgrade = {
    ...{ id: 'dpg-1', fromVersion: '15', toVersion: '18', step: 'done', volumeId: 'dsk-1', snapshot: 'upgrade-1', attempts: 0 },
    ...{ startedAt: 1, stoppedAt: 2, finishedAt: 3, keptUntil: 100, reason: null },
  }

  test('is there for a day, on the volume that was upgraded', () => {
    expect(requireWayBack(datastore, upgrade, 99)).toBe(upgrade)
    expect(() => requireWayBack(datastore, upgrade, 100)).toThrow('and is gone. A recovery makes')
    expect(() => requireWayBack({ ...datastore, volumeId: 'dsk-2' }, upgrade, 99)).toThrow('The standby of shop has taken its place')
    expect(() => requireWayBack(datastore, undefined, 99)).toThrow('was not upgraded')
    expect(() => requireWayBack(datastore, { ...upgrade, step: 'returned' }, 99)).toThrow('was not upgraded')
  })

  test('is there while the new server does not come up, too', () => {
    expect(requireWayBack(datastore, { ...upgrade, step: 'starting', keptUntil: null }, 99).step).toBe('starting')
  })
})

describe('what the script says', () => {
  test('is done, or nothing where nobody saw its end', () => {
    expect(verdictIn('cpd-upgrade: done\n')).toEqual({ kind: 'done' })
    expect(verdictIn('Checking cluster versions    ok\n')).toEqual({ kind: 'unknown' })
    expect(verdictIn('')).toEqual({ kind: 'unknown' })
  })

  test('is why it is refused, without what is fine and where nobody can look', () => {
    const said = `Performing Consistency Checks
-----------------------------
Checking cluster versions                                     ok
Checking for presence of required libraries                   fatal

Your installation references loadable libraries that are missing from the
new installation.  You can add these libraries to the new installation,
or remove the functions using them from the old installation.  A list of
problem libraries is in the file:
    /var/lib/datastore/pgdata.next/pg_upgrade_output.d/20261123T165500/loadable_libraries.txt
Failure, exiting
cpd-report: loadable_libraries
could not load library "$libdir/rum": ERROR:  could not access file "$libdir/rum": No such file or directory
In database: shop

cpd-upgrade: refused
`
    expect(verdictIn(said)).toEqual({
      kind: 'refused',
      reason:
        'Checking for presence of required libraries failed. Your installation references loadable libraries that are missing from the ' +
        'new installation. You can add these libraries to the new installation, or remove the functions using them from the old installation. ' +
        'loadable_libraries: could not load library "$libdir/rum": ERROR: could not access file "$libdir/rum": No such file or directory In database: shop',
    })
    expect(verdictIn('cpd-upgrade: refused')).toMatchObject({ reason: expect.stringContaining('did not say why') })
  })
})
