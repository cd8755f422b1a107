import { type Static, Type } from '@sinclair/typebox'
import { Commit } from './deploy.ts'
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
    waiting: Type.Optional(
      Type.Object(
        {
          commitId: Commit.properties.id,
          message: Type.String(),
          since: Time,
          for: Type.String({ description: 'What it waits for', examples: ['its check ci/build'] }),
        },
        { description: 'With `checksPass`: a commit that is deployed once its checks have passed' },
      ),
    ),
  },
  { description: 'Only while it is told of something: what keeps the service from being deployed from its repository' },
)
export type RepositoryState = Static<typeof RepositoryState>
