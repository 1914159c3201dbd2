/** Errors for denied requests, with the messages of kube-apiserver. */

import { forbiddenRequest } from '@hangar/api';
import type { StatusError } from '@hangar/api';
import type { AdmissionRequest } from './admission.ts';

/** Returns a 403: `pods "web" is forbidden: <why>`. */
export function forbid(request: AdmissionRequest, why: string): StatusError {
  const { resource } = request;
  return forbiddenRequest({ group: resource.group, resource: resource.name }, refusedName(request), why);
}

/** Objects with a generated name are reported by `generateName`. */
function refusedName({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
}

/** Joins distinct reasons like Go's aggregate of errors. */
export function aggregate(reasons: readonly string[]): string {
  const different = [...new Set(reasons)];
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`;
}
