/** The namespace of a request for matching: a Namespace object is in itself. */

import type { AdmissionRequest } from '../admission.ts';

export const isNamespace = ({ resource }: Pick<AdmissionRequest, 'resource'>): boolean =>
  resource.group === '' && resource.name === 'namespaces';

export const namespaceOf = (request: Pick<AdmissionRequest, 'resource' | 'namespace' | 'name'>): string =>
  isNamespace(request) ? request.name : request.namespace;
