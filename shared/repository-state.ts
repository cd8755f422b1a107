import { type Static, Type } from '@sinclair/typebox'
import { Time } from './schema.ts'

/** What keeps a service from being deployed from its repository. Absent while nothing does. */
export const RepositoryState = Type.Object(
  {
    problem: Type.Optional(
      Type.Object(
        { since: Time, message: Type.String({ description: 'What is wrong, and what to do' }) },
        { description: 'While the repository or its branch cannot be had' },
      ),
    ),
  },
  { description: 'Only while it is told of something: what keeps the service from being deployed from its repository' },
)
export type RepositoryState = Static<typeof RepositoryState>
