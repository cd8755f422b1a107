import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ControlPlane } from './control-plane.ts'
import { makeService, serviceOf, type TestService } from './service.ts'
import { until } from './until.ts'

/** Services of tests that kill the control plane: each is spoken to at the one that runs now. */
export interface PlaneServices {
  make(name: string, body?: Record<string, unknown>): Promise<TestService>
  now(service: { id: string; name: string }): TestService
  /** Deletes all of them, and waits until nothing of them is left. */
  removeAll(): Promise<void>
}

export function servicesOn(plane: () => ControlPlane): PlaneServices {
  const made: { id: string; name: string }[] = []
  const now = (service: { id: string; name: string }) => serviceOf(plane(), service)
  return {
    async make(name, body = {}) {
      const service = await makeService(plane(), { name, ...body })
      made.push(service)
      return service
    },
    now,
    async removeAll() {
      for (const service of made) await now(service).ask('', { method: 'DELETE' })
      await until('all services are gone', () => readdirSync(join(plane().dataDir, 'services')).length === 0)
    },
  }
}
