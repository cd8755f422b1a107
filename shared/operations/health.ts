import { Health, Status } from '../health.ts'
import { defineOperations } from '../operation.ts'

/** Whether the platform itself is well. These stand outside /v1 and tell a stranger nothing about tenants. */
export const healthOperations = defineOperations({
  health: {
    method: 'GET',
    path: '/api/health',
    access: 'public',
    tag: 'Health',
    summary: 'Health of the control plane, for monitors',
    responses: { 200: Health, 503: Health },
  },
  status: {
    method: 'GET',
    path: '/status',
    access: 'public',
    tag: 'Health',
    summary: 'Status page',
    description: 'HTML for browsers, JSON otherwise.',
    responses: { 200: Status },
    html: true,
  },
})
