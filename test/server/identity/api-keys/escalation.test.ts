import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Actor } from '../../../../server/http/handlers/call.ts'
import { createKey } from '../../../../server/identity/api-keys/create.ts'
import { permissionsIn } from '../../../../server/identity/permissions/grant.ts'
import { AppError } from '../../../../shared/error.ts'
import { builtInRoles, holdsAll, permissionNames } from '../../../../shared/permission.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let workspaceId: string
beforeAll(async () => {
  server = await startTestServer()
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

test('whatever set of permissions the maker has, no key may do more', () => {
  const names = Object.keys(builtInRoles)
  for (let round = 0; round < 300; round++) {
    const share = Math.random()
    const permissions = new Set(permissionNames.filter(() => Math.random() < share))
    const role = names[round % names.length] ?? 'admin'
    const maker: Actor = { type: 'user', id: 'usr-maker', name: 'Maker', workspaceId, role: 'custom', permissions, scope: undefined }
    for (const wanted of [{ name: 'asked', role }, { name: 'default' }]) {
      try {
        const { key } = createKey(server.context, maker, wanted)
        expect(holdsAll(permissions, permissionsIn(server.db, workspaceId, key.role))).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(AppError)
      }
    }
  }
})
