/** Claims of devices that a pod declares for its containers. */

import type { ObjectMeta } from '../../../object.ts';
import { child, duplicate, forbidden, index, invalid, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { nameIsSubdomain } from '../../formats.ts';
import { checkDnsLabel, checkReasons, has, isSet } from '../base/checks.ts';
import { serverForm } from '../server-form/render.ts';
import type { PodResourceClaim, PodSpec } from '../types/pod.ts';
import { mirrorAnnotation } from './annotations.ts';

/** Answers the names that containers can use. */
export function checkResourceClaims(
  errors: FieldError[],
  path: string,
  { resourceClaims }: PodSpec,
  metadata: ObjectMeta | undefined,
): ReadonlySet<string> {
  const claims = resourceClaims ?? [];
  const seen = new Set<string>();
  for (const [i, claim] of claims.entries()) {
    if (has(metadata?.annotations, mirrorAnnotation)) {
      errors.push(forbidden('', 'static pods do not support resource claims'));
      continue;
    }
    checkClaim(errors, index(path, i), claim, seen);
  }
  return new Set(claims.flatMap(({ name }) => (name ? [name] : [])));
}

function checkClaim(errors: FieldError[], path: string, claim: PodResourceClaim, seen: Set<string>): void {
  const { name = '', resourceClaimName, resourceClaimTemplateName } = claim;
  const namePath = child(path, 'name');
  if (name === '') errors.push(required(namePath, ''));
  else if (seen.has(name)) errors.push(duplicate(namePath, name));
  else {
    checkDnsLabel(errors, namePath, name);
    seen.add(name);
  }
  const refuse = (reason: string): void => {
    errors.push(invalid(path, serverForm('PodResourceClaim', claim), reason));
  };
  if (isSet(resourceClaimName) && isSet(resourceClaimTemplateName)) {
    refuse('at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified');
  }
  if (!isSet(resourceClaimName) && !isSet(resourceClaimTemplateName)) {
    refuse('must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
  }
  for (const field of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
    const value = claim[field];
    if (isSet(value)) checkReasons(errors, child(path, field), value, nameIsSubdomain(value, false));
  }
}
