/** How admission says no, in kube-apiserver's words. */

import { forbiddenRequest } from '@hangar/api';
import type { StatusError } from '@hangar/api';
import type { AdmissionRequest } from './admission.ts';

/** 403: `pods "web" is forbidden: <why>`. */
export function forbid(request: AdmissionRequest, why: string): StatusError {
  const { resource } = request;
  return forbiddenRequest({ group: resource.group, resource: resource.name }, refusedName(request), why);
}

/** An object that asks for a generated name is called by what its name will begin with. */
function refusedName({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
}

/** Several reasons as one text, each of them once: Go's aggregate of errors. */
export function aggregate(reasons: readonly string[]): string {
  const different = [...new Set(reasons)];
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`;
}
