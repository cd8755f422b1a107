import { AppError } from '../../shared/error.ts'
import type { Operation } from '../../shared/operation.ts'

/** What is said to a request that no route answers: `not_found`, or `method_not_allowed` where the path has other methods. */
export function createUnknownRoute(table: Readonly<Record<string, Operation>>): (request: Request) => AppError {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  for (const { path, method } of Object.values(table)) {
    const route = routes.get(path) ?? {
      pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`),
      methods: new Set(),
    }
    route.methods.add(method)
    if (method === 'GET') route.methods.add('HEAD')
    routes.set(path, route)
  }
  return (request) => {
    const { pathname } = new URL(request.url)
    const methods = [...routes.values()].flatMap((route) => (route.pattern.test(pathname) ? [...route.methods] : []))
    // A path that has the method is one that could not be read: its parts are no valid text.
    if (methods.length === 0 || methods.includes(request.method))
      return new AppError('not_found', 'There is nothing at this path and method. /docs lists what there is.')
    const allowedMethods = [...new Set(methods)].sort()
    return new AppError('method_not_allowed', `This path does not take ${request.method}, but ${allowedMethods.join(', ')}.`, {
      allowedMethods,
    })
  }
}
