import { Type } from '@sinclair/typebox'
import { AuditCheckpoint, AuditPage, AuditQuery } from '../audit.ts'
import { Id } from '../id.ts'
import { defineOperations } from '../operation.ts'

export const auditOperations = defineOperations({
  listAuditLogs: {
    method: 'GET',
    path: '/v1/audit-logs',
    access: 'audit.read',
    tag: 'Audit',
    summary: 'List audit log entries',
    description:
      'Every change and every denied attempt, newest first. Entries are kept for ever. To follow the log, ask forward from the last cursor.',
    query: Type.Object({ ...AuditQuery, ownerId: Type.Optional(Type.String()) }),
    responses: { 200: AuditPage },
  },
  listOwnerAuditLogs: {
    method: 'GET',
    path: '/v1/owners/:ownerId/audit-logs',
    access: 'audit.read',
    tag: 'Audit',
    summary: 'List audit log entries of a workspace',
    params: Type.Object({ ownerId: Id('workspace') }),
    query: Type.Object(AuditQuery),
    responses: { 200: AuditPage },
    errors: ['not_found'],
  },
  exportAuditLogs: {
    method: 'GET',
    path: '/v1/audit-logs/export',
    access: 'audit.read',
    tag: 'Audit',
    summary: 'Export the audit log for verification',
    description:
      'One JSON object a line: `chain` with the workspace, then each `entry` in order, at last the `checkpoint` with the public key and the signed end. `cpctl audit verify` checks it, also offline.',
    query: Type.Object({
      fromSequence: Type.Optional(Type.Integer({ minimum: 1, description: 'The first entry that is wanted; the whole chain if absent' })),
      ownerId: Type.Optional(Type.String()),
    }),
    responses: { 200: Type.String() },
    plain: 'application/x-ndjson',
  },
  getAuditCheckpoint: {
    method: 'GET',
    path: '/v1/audit-logs/checkpoints',
    access: 'audit.read',
    tag: 'Audit',
    summary: 'The public key of the audit log and its signed end',
    description: 'Keep the public key: entries that were signed with another are not of this server.',
    query: Type.Object({ ownerId: Type.Optional(Type.String()) }),
    responses: { 200: AuditCheckpoint },
  },
})
