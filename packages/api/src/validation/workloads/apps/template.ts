/** Templates of pods that a selector has to match, and that make pods which run until they are deleted. */

import { child, forbidden, invalid, notSupported } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { goMap } from '../base/go-values.ts';
import { isSet } from '../base/checks.ts';
import type { PodTemplate } from '../types/pod.ts';

const unmatched = '`selector` does not match template `labels`';

export function refuseUnmatched(errors: FieldError[], path: string, { metadata }: PodTemplate): void {
  errors.push(invalid(child(path, 'metadata.labels'), goMap(metadata?.labels), unmatched));
}

/** `kind` is whom the message names. */
export function checkRunsForever(errors: FieldError[], path: string, { spec = {} }: PodTemplate, kind: string): void {
  if (spec.restartPolicy !== 'Always') {
    errors.push(notSupported(child(path, 'spec.restartPolicy'), spec.restartPolicy ?? '', ['Always']));
  }
  if (isSet(spec.activeDeadlineSeconds)) {
    const reason = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbidden(child(path, 'spec.activeDeadlineSeconds'), reason));
  }
}
