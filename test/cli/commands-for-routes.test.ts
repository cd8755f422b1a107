import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inCommands } from '../../cli/api/commands-for-routes.ts'
import { sourcesIn } from '../structure/sources.ts'

test.each([
  ['There is no service a. GET /v1/services lists those there are.', 'There is no service a. cpctl services list lists those there are.'],
  ['Change it: cpctl team, or PATCH /v1/team-members/{id}.', 'Change it: cpctl team, or cpctl team role <member>.'],
  ['GET /v1/services/srv-1/custom-domains lists those it has.', 'cpctl domains list srv-1 lists those it has.'],
  ['Change your own, POST /v1/auth/password, or ask.', 'Change your own, cpctl account password, or ask.'],
  ['POST /v1/services/{id}/source/upload.', 'cpctl deploy --service <service>.'],
  ['Unlink them first, or delete it with force=true.', 'Unlink them first, or delete it with --force.'],
  ['GET /v1/auth/providers and GET /v1/unheard/of stay.', 'GET /v1/auth/providers and GET /v1/unheard/of stay.'],
])('%s', (message, shown) => {
  expect(inCommands(message)).toBe(shown)
})

/** No command asks for a provider: people choose one on the page on which they sign in. */
const withoutCommand = ['GET /v1/auth/providers']

test('every route that a message of the server names has its command', () => {
  const sources = sourcesIn(join(import.meta.dirname, '../../server')).filter(({ path }) => !path.startsWith('api/docs/'))
  const code = sources.flatMap(({ lines }) => lines.filter((line) => !/^\s*(\/\/|\/?\*)/.test(line)))
  const named = code.flatMap((line) => line.replace(/\$\{[^}]*\}/g, 'x').match(/\b(GET|POST|PUT|PATCH|DELETE) \/v1\/[\w/{}-]+/g) ?? [])
  expect(named.length).toBeGreaterThan(20)
  const unknown = named.filter((text) => inCommands(text) === text && !withoutCommand.includes(text))
  expect(unknown).toEqual([])
})
