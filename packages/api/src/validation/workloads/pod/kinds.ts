/** Pods and templates of pods as kinds. */

import type { KubeObject } from '../../../object.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { KindValidations } from '../../contract.ts';
import type { PodTemplate } from '../types/pod.ts';
import { checkEphemeralContainersUpdate } from './ephemeral-containers.ts';
import { checkNewPod, checkPodUpdate } from './pod.ts';
import { checkPodStatusUpdate } from './pod-status.ts';
import { checkPodResize } from './resize.ts';
import { podRules } from './rules.ts';
import { checkPodTemplate } from './template.ts';
import { podWarnings, templateWarnings } from './warnings.ts';

const updates: Readonly<Record<string, (pod: KubeObject, old: KubeObject) => FieldError[]>> = {
  '': checkPodUpdate,
  status: checkPodStatusUpdate,
  ephemeralcontainers: checkEphemeralContainersUpdate,
  resize: checkPodResize,
};

const templateOf = (object: KubeObject): PodTemplate => (object['template'] ?? {}) as PodTemplate;

function checkTemplate(object: KubeObject, old?: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  checkPodTemplate(errors, 'template', templateOf(object), podRules(false, old && templateOf(old)));
  return errors;
}

export const podKinds: KindValidations = {
  'v1/Pod': {
    create: checkNewPod,
    update: (pod, old, subresource) =>
      (Object.hasOwn(updates, subresource) ? updates[subresource]! : checkPodUpdate)(pod, old),
    warnings: (pod, old) => (old ? [] : podWarnings(pod)),
  },
  'v1/PodTemplate': {
    create: (object) => checkTemplate(object),
    update: (object, old) => checkTemplate(object, old),
    warnings: (object, old) =>
      old && object.metadata.generation === old.metadata.generation
        ? []
        : templateWarnings('template', templateOf(object)),
  },
};
