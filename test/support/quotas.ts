import { allQuotas, MAX_QUOTA } from '../../shared/quota.ts'

/** Settings under which no workspace of a test runs out of anything. */
export const plentiful = { CP_QUOTAS: allQuotas.map((name) => `${name}=${MAX_QUOTA}`).join(',') }
