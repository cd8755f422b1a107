import { AppError } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'

export function createUnknownRoute(table: Readonly<Record<string, Operation>>): (request: Request) => AppError {
  const methodsOf = new Map<string, Set<string>>()
  for (const { path, method } of Object.values(table)) {
    const methods = methodsOf.get(path) ?? new Set()
    for (const one of method === 'GET' ? ['GET', 'HEAD'] : [method]) methods.add(one)
    methodsOf.set(path, methods)
  }
  // Where a path is one by its own name, what it would be as somebody's id is of no interest.
  const paths = [...methodsOf.keys()].sort((one, other) => paramsIn(one) - paramsIn(other))
  const routes = paths.map((path) => ({ pattern: patternOf(path), methods: [...(methodsOf.get(path) ?? [])].sort() }))
  return (request) => {
    const { pathname } = new URL(request.url)
    const allowedMethods = routes.find(({ pattern }) => pattern.test(pathname))?.methods ?? []
    // A path that has the method is one that could not be read: its parts are no valid text.
    if (allowedMethods.length === 0 || allowedMethods.includes(request.method))
      return new AppError('not_found', 'There is nothing at this path and method. /docs lists what there is.')
    const message = `This path does not take ${request.method}, but ${allowedMethods.join(', ')}.`
    return new AppError('method_not_allowed', message, { allowedMethods })
  }
}

const paramsIn = (path: string): number => path.split(':').length - 1

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`)
