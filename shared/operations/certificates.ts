import { Type } from '@sinclair/typebox'
import { CertificateState, CertificateUpload } from '../certificate.ts'
import { defineOperations } from '../operation.ts'

const DomainParams = Type.Object({
  serviceId: Type.String({ description: 'Id of the service' }),
  domainId: Type.String({ description: 'Id of the domain, or its host name' }),
})

export const certificateOperations = defineOperations({
  setDomainCertificate: {
    method: 'PUT',
    path: '/v1/services/:serviceId/custom-domains/:domainId/certificate',
    access: 'domains.manage',
    tag: 'Custom domains',
    summary: 'Use a certificate of your own for a custom domain',
    description: 'It is served at once and goes before one from the authority until it is removed or ends. Renew it by setting another.',
    params: DomainParams,
    body: CertificateUpload,
    responses: { 200: CertificateState },
    errors: ['not_found', 'conflict'],
  },
  removeDomainCertificate: {
    method: 'DELETE',
    path: '/v1/services/:serviceId/custom-domains/:domainId/certificate',
    access: 'domains.manage',
    inProtected: 'refused',
    tag: 'Custom domains',
    summary: 'Remove your own certificate of a custom domain',
    description: 'One from the authority is obtained and served in its place.',
    params: DomainParams,
    responses: { 204: null },
    errors: ['not_found'],
  },
})
