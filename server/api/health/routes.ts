import type { Operations } from '../../../shared/operations/all.ts'
import { answer, type Handlers } from '../../http/handlers/call.ts'
import type { ApiContext } from '../context.ts'
import type { HealthReport } from './check.ts'
import { renderStatusPage, statusPagePolicy } from './status-page.ts'

type HealthIds = Extract<keyof Operations, 'health' | 'status'>

export function createHealthRoutes(check: () => Promise<HealthReport>): Handlers<HealthIds, ApiContext> {
  return {
    async health(_, { version }) {
      const { status, components } = await check()
      const checks = Object.fromEntries(components.map((component) => [component.name, { status: component.status }]))
      return answer(status === 'down' ? 503 : 200, { status, version, checks })
    },
    async status({ request }, { now }) {
      const report = await check()
      if (prefersHtml(request.headers.get('accept'))) {
        const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': statusPagePolicy, Vary: 'Accept' }
        return new Response(renderStatusPage(report, new Date(now())), { headers })
      }
      return answer(200, { ...report, incidents: [] }, { Vary: 'Accept' })
    },
  }
}

/** Browsers name HTML before JSON; scripts name nothing or anything. */
function prefersHtml(accept: string | null): boolean {
  const types = (accept ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';', 1)[0]?.trim())
  const html = types.indexOf('text/html')
  const json = types.indexOf('application/json')
  return html !== -1 && (json === -1 || html < json)
}
