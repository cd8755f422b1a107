import { type PostgresPlan, postgresPlans } from '../../../../shared/postgres.ts'
import type { AppContext } from '../../context.ts'
import { passwordPurpose } from '../../datastores/credential-store.ts'
import { baseEnv } from '../../launch/launch.ts'
import { programsOf } from '../../postgres/programs.ts'
import { ADMIN } from '../../postgres/roles.ts'
import { quoteName, quoteText, scramVerifier } from '../../postgres/sql.ts'
import { postgresById } from '../../postgres/store.ts'
import { layMaterial, targetOf } from '../postgres/material.ts'
import { RESTORE_SCRIPT } from '../postgres/restore-script.ts'
import type { RestoreProgram } from './owner.ts'
import type { RestoreRequest, RestoreWay } from './restore-way.ts'

const MIB = 1024 * 1024
/** Version from which on pg_combinebackup can link in place of copying. */
const LINKS = 18

export const restorePostgres: RestoreWay = {
  async lay(deps, material, { datastoreId, chain, target }) {
    const until = target === 'immediate' ? 0 : momentOf(target)
    await layMaterial(deps, material, { datastoreId, chain, ...(until !== undefined && { until }) })
  },
  program,
  limitsOf(plan) {
    const { memoryMb, cpu, pids } = postgresPlans[plan as PostgresPlan]
    return { cpu: Math.max(1, cpu), memoryBytes: memoryMb * MIB, pids }
  },
  readIn(output) {
    const read = [...output.matchAll(/^cpd-drill: (.+) (\d+) tables (\d+) rows$/gm)]
    return { databases: read.map(([, name, tables, rows]) => ({ name, tables: Number(tables), rows: Number(rows) })) }
  },
}

const momentOf = (target: string): number | undefined => (Number.isNaN(Number(target)) ? undefined : Number(target))

async function program(context: AppContext, { version, target, limits, recoveredId }: RestoreRequest): Promise<RestoreProgram> {
  const { name } = programsOf(context, version)
  await context.programs.ensure(name)
  const buffers = Math.max(16, Math.min(512, Math.floor(limits.memoryBytes / MIB / 4)))
  const moment = momentOf(target)
  const content = recoveredId === undefined ? '' : finishSql(context, recoveredId)
  return {
    files: { programs: name },
    command: RESTORE_SCRIPT,
    env: (view) => ({
      ...baseEnv(view),
      LC_ALL: 'C',
      CPD_VOLUME: view.volume ?? '',
      CPD_MATERIAL: view.material ?? '',
      CPD_SECRETS: view.secrets,
      CPD_ADMIN: ADMIN,
      CPD_TARGET: moment === undefined ? target : targetOf(moment),
      CPD_SHARED_BUFFERS: `${buffers}MB`,
      ...(Number(version) >= LINKS && { CPD_CAN_LINK: '1' }),
      ...(recoveredId === undefined && { CPD_DRILL: '1' }),
    }),
    secretFiles: { key: `${recoveredId ?? 'drill'}-sql`, read: () => [{ name: 'finish.sql', content }] },
  }
}

/** Its roles have the passwords of the database that it was made of. Those of the tenant follow when its server comes up. */
function finishSql({ db, sealer }: AppContext, id: string): string {
  const own = postgresById(db, id)
  if (own === undefined) throw new Error(`The database ${id} has half of its row`)
  const admin = sealer.open(own.adminPasswordSealed, passwordPurpose(id, 'admin'))
  return `ALTER ROLE ${quoteName(ADMIN)} PASSWORD ${quoteText(scramVerifier(admin))};\n`
}
