import { expect, test } from 'vitest'
import { loopbackVariable } from '../../../../server/builders/tree/shared-network.ts'

test.each([
  'http://127.0.0.1:3128',
  'http://user:secret@localhost:3128/',
  'http://[::1]:8080',
  'https://LOCALHOST',
  'http://127.0.0.53/simple',
])('%s is on the loopback of the machine', (value) => {
  expect(loopbackVariable({ NO_PROXY: 'localhost,127.0.0.1', HTTPS_PROXY: value })).toBe('HTTPS_PROXY')
})

test.each(['http://proxy.example:3128', 'http://localhost.example', 'http://10.0.0.1', 'https://user:localhost@proxy.example', 'direct'])(
  '%s is not',
  (value) => expect(loopbackVariable({ NO_PROXY: 'localhost,127.0.0.1', HTTPS_PROXY: value })).toBeUndefined(),
)
