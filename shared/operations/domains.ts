import { Type } from '@sinclair/typebox'
import { CustomDomain, CustomDomainCreate, CustomDomainQuery } from '../custom-domain.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'

const ServiceParams = Type.Object({ serviceId: Type.String({ description: 'Id of the service' }) })
const DomainParams = Type.Object({
  serviceId: Type.String({ description: 'Id of the service' }),
  domainId: Type.String({ description: 'Id of the domain, or its host name' }),
})

export const domainOperations = defineOperations({
  listCustomDomains: {
    method: 'GET',
    path: '/v1/services/:serviceId/custom-domains',
    access: 'services.read',
    tag: 'Custom domains',
    summary: 'List custom domains of a service',
    params: ServiceParams,
    query: CustomDomainQuery,
    responses: { 200: PageOf('customDomain', CustomDomain) },
    errors: ['not_found'],
  },
  createCustomDomain: {
    method: 'POST',
    path: '/v1/services/:serviceId/custom-domains',
    access: 'domains.manage',
    tag: 'Custom domains',
    summary: 'Add a custom domain',
    description:
      'Set one of its `dnsRecords` where its DNS is kept. DNS is looked at by itself: each minute for an hour, then hourly for three days. Until it is verified the domain is not routed and gets no certificate.',
    params: ServiceParams,
    body: CustomDomainCreate,
    responses: { 201: Type.Array(CustomDomain, { minItems: 1, maxItems: 1 }) },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  getCustomDomain: {
    method: 'GET',
    path: '/v1/services/:serviceId/custom-domains/:domainId',
    access: 'services.read',
    tag: 'Custom domains',
    summary: 'One custom domain',
    params: DomainParams,
    responses: { 200: CustomDomain },
    errors: ['not_found'],
  },
  verifyCustomDomain: {
    method: 'POST',
    path: '/v1/services/:serviceId/custom-domains/:domainId/verify',
    access: 'domains.manage',
    tag: 'Custom domains',
    summary: 'Have the DNS of a custom domain looked at now',
    description: 'Answers at once; `isCheckPending` of the domain is false when it is done, and `lastCheck` tells what was found.',
    params: DomainParams,
    responses: { 202: null },
    errors: ['not_found'],
  },
  deleteCustomDomain: {
    method: 'DELETE',
    path: '/v1/services/:serviceId/custom-domains/:domainId',
    access: 'domains.manage',
    inProtected: 'refused',
    tag: 'Custom domains',
    summary: 'Remove a custom domain',
    description: 'It is routed no longer and its certificate is given up. Its name is free for others at once.',
    params: DomainParams,
    responses: { 204: null },
    errors: ['not_found'],
  },
})
