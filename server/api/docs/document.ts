import { Elysia } from 'elysia'
import { sessionCookie } from '../../http/access/credential.ts'
import type { OperationTable } from '../../http/mount/mount-all.ts'
import { headerComponents, openApiEntry } from './entry.ts'
import type { Components } from './schema.ts'
import { tagDescriptions } from './tags.ts'

const SPEC_PATH = '/json'

/** Swagger's plugin collects entries from an application of their own: what answers requests needs no documentation in memory. */
export async function buildOpenApiDocument(table: OperationTable, version: string): Promise<string> {
  // The plugin brings the themes of another viewer along, which a start need not load.
  const { swagger } = await import('@elysiajs/swagger')
  const schemas: Components = {}
  const documented = new Elysia({ aot: false })
  for (const [id, operation] of Object.entries(table)) {
    documented.route(operation.method, operation.path, () => '', { detail: openApiEntry(id, operation, schemas) })
  }
  documented.use(
    swagger({
      path: '/page',
      specPath: SPEC_PATH,
      documentation: {
        info: {
          title: 'Control plane',
          version,
          license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
          description:
            'Deploys and runs services on your own machine. Authorize with an API key, or log in here with `POST /v1/auth/login`.',
        },
        // The page talks to the host it came from, whatever name that has.
        servers: [{ url: '/' }],
        tags: [...new Set(Object.values(table).map(({ tag }) => tag))].map((name) => ({
          name,
          ...(tagDescriptions[name] !== undefined && { description: tagDescriptions[name] }),
        })),
        components: {
          schemas: schemas as Record<string, object>,
          headers: headerComponents,
          securitySchemes: {
            bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or the operator token' },
            basic: { type: 'http', scheme: 'basic', description: 'An API key as the password, whatever the user name' },
            session: {
              type: 'apiKey',
              in: 'cookie',
              name: sessionCookie,
              description: 'Set by logging in; __Host-cpd_session where the public URL is https',
            },
          },
        },
      },
    }),
  )
  return (await documented.handle(new Request(`http://localhost${SPEC_PATH}`))).text()
}
