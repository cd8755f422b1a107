import { type Static, Type } from '@sinclair/typebox'
import { TouchedService } from './env-group.ts'
import { StrictObject, Time } from './schema.ts'

/** Users that a database can have beside each other. */
export const maxCredentials = 20
/** Longest time that former users stay good when one is told, in hours. */
export const maxFormerHours = 720

export const PostgresCredential = Type.Object(
  {
    username: Type.String(),
    default: Type.Boolean({ description: 'Whether connection strings name this user' }),
    createdAt: Time,
    expiresAt: Type.Optional({ ...Time, description: 'When its password is refused' }),
    openConnections: Type.Optional(Type.Integer({ description: 'Absent while the database does not run' })),
  },
  { $id: 'PostgresCredential' },
)
export type PostgresCredential = Static<typeof PostgresCredential>

export const NewPostgresCredential = Type.Composite(
  [
    PostgresCredential,
    Type.Object({
      password: Type.String({ 'x-secret': true, description: 'Also in the connection info while it is the default' }),
      touched: Type.Optional(
        Type.Array(TouchedService, {
          description: 'Services whose variables refer to the database: they connect as before until their next deploy',
        }),
      ),
    }),
  ],
  { $id: 'NewPostgresCredential' },
)
export type NewPostgresCredential = Static<typeof NewPostgresCredential>

export const PostgresCredentialCreate = StrictObject(
  {
    username: Type.Optional(
      Type.String({
        pattern: '^(?:[a-z_][a-z0-9_]{0,62})?$',
        description: 'Lower case letters, digits and _; made of the first user when empty',
      }),
    ),
    formerValidHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxFormerHours,
        description: 'How long the passwords of the other users are good from now on; without it they are until those users are deleted',
      }),
    ),
  },
  { examples: [{ username: 'shop_next' }] },
)
export type PostgresCredentialCreate = Static<typeof PostgresCredentialCreate>
