/** Containers added to a running pod: they stay, and stay as they are. */

import type { KubeObject } from '../../../object.ts';
import { forbidden, quote } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { has } from '../base/checks.ts';
import { equalStructs } from '../../../fields/semantic-equality.ts';
import { prettyServerForm } from '../server-form/render.ts';
import { unifiedDiff } from '../server-form/unified-diff.ts';
import { mirrorAnnotation } from './annotations.ts';
import { checkAnnotationUpdates, checkPod, rulesForUpdate, specOf } from './pod.ts';

export function checkEphemeralContainersUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  if (has(old.metadata.annotations, mirrorAnnotation)) {
    return [forbidden('', 'static pods do not support ephemeral containers')];
  }
  const errors: FieldError[] = [];
  const rules = rulesForUpdate(old);
  checkPod(errors, pod, rules);
  checkAnnotationUpdates(errors, pod, old, rules);
  const path = 'spec.ephemeralContainers';
  const containers = new Map((specOf(pod).ephemeralContainers ?? []).map((one) => [one.name ?? '', one]));
  for (const before of specOf(old).ephemeralContainers ?? []) {
    const container = containers.get(before.name ?? '');
    const what = `existing ephemeral containers ${quote(before.name ?? '')} may not be`;
    if (!container) errors.push(forbidden(path, `${what} removed\n`));
    else if (!equalStructs('core/v1.EphemeralContainer', before, container)) {
      const form = (one: object): string => prettyServerForm('EphemeralContainer', one);
      errors.push(forbidden(path, `${what} changed\n${unifiedDiff(form(before), form(container))}`));
    }
  }
  return errors;
}
