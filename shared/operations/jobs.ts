import { Type } from '@sinclair/typebox'
import { CronJobRun, CronRunQuery } from '../cron.ts'
import { Job, JobCreate, JobQuery, maxJobHours, maxOpenJobs, maxRunningJobs } from '../job.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'

const ServiceParams = Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) })
const JobParams = Type.Object({
  serviceId: Type.String({ description: 'Id of the service' }),
  jobId: Type.String({ description: 'Id of the job' }),
})
const CronJobParams = Type.Object({ serviceId: Type.String({ description: 'Id of the cron job' }) })

export const jobOperations = defineOperations({
  createJob: {
    method: 'POST',
    path: '/v1/services/:serviceId/jobs',
    access: 'jobs.run',
    inProtected: 'refused',
    tag: 'Jobs',
    summary: 'Run a command in the live release of a service',
    description:
      `It has the files, variables, secret files, disk and private network of the service, and limits of its own. ${maxRunningJobs} of a service run ` +
      `at the same time, up to ${maxOpenJobs} wait or run. It may take ${maxJobHours} h. Its output is in the logs of the service, with the id of the job as \`instance\`.`,
    params: ServiceParams,
    body: JobCreate,
    responses: { 201: Job },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  listJobs: {
    method: 'GET',
    path: '/v1/services/:serviceId/jobs',
    access: 'services.read',
    tag: 'Jobs',
    summary: 'List one-off jobs of a service',
    params: ServiceParams,
    query: JobQuery,
    responses: { 200: PageOf('job', Job) },
    errors: ['not_found'],
  },
  getJob: {
    method: 'GET',
    path: '/v1/services/:serviceId/jobs/:jobId',
    access: 'services.read',
    tag: 'Jobs',
    summary: 'One job',
    params: JobParams,
    responses: { 200: Job },
    errors: ['not_found'],
  },
  cancelJob: {
    method: 'POST',
    path: '/v1/services/:serviceId/jobs/:jobId/cancel',
    access: 'jobs.run',
    inProtected: 'refused',
    tag: 'Jobs',
    summary: 'Cancel a job',
    description: 'One that runs gets SIGTERM, and SIGKILL after `maxShutdownDelaySeconds` of the service.',
    params: JobParams,
    responses: { 200: Job },
    errors: ['not_found', 'conflict'],
  },
  runCronJob: {
    method: 'POST',
    path: '/v1/cron-jobs/:serviceId/runs',
    access: 'jobs.run',
    inProtected: 'refused',
    tag: 'Cron jobs',
    summary: 'Run a cron job now',
    description: 'Beside its schedule. While another run is under way its `overlapPolicy` decides: with `skip` the answer is 409.',
    params: CronJobParams,
    responses: { 200: CronJobRun },
    errors: ['not_found', 'conflict'],
  },
  listCronJobRuns: {
    method: 'GET',
    path: '/v1/cron-jobs/:serviceId/runs',
    access: 'services.read',
    tag: 'Cron jobs',
    summary: 'List runs of a cron job',
    params: CronJobParams,
    query: CronRunQuery,
    responses: { 200: PageOf('cronJobRun', CronJobRun) },
    errors: ['not_found'],
  },
  cancelCronJobRuns: {
    method: 'DELETE',
    path: '/v1/cron-jobs/:serviceId/runs',
    access: 'jobs.run',
    inProtected: 'refused',
    tag: 'Cron jobs',
    summary: 'Cancel the runs of a cron job that are under way',
    params: CronJobParams,
    responses: { 204: null },
    errors: ['not_found'],
  },
})
