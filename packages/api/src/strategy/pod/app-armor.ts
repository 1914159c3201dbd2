/** AppArmor profiles were annotations before they were fields: an annotation still sets the field of its container. */

import { has, isAbsent, objectAt, stringAt, structAt } from '../../defaults/access.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { equalJson } from '../../fields/semantic-equality.ts';
import { containersOf } from './disabled-fields.ts';

const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const localPrefix = 'localhost/';
const profileLengthMax = 4095;

export function applyAppArmorAnnotations(pod: KubeObject): void {
  const annotations = objectAt(objectAt(pod, 'metadata'), 'annotations');
  const spec = objectAt(pod, 'spec');
  if (annotations === undefined || spec === undefined || objectAt(spec, 'os')?.['name'] === 'windows') return;
  const ofPod = objectAt(spec, 'securityContext')?.['appArmorProfile'];
  for (const container of containersOf(spec)) {
    const key = annotationPrefix + stringAt(container, 'name');
    if (!has(annotations, key) || !isAbsent(objectAt(container, 'securityContext')?.['appArmorProfile'])) continue;
    const profile = profileOf(stringAt(annotations, key));
    if (profile !== undefined && !equalJson(profile, ofPod))
      structAt(container, 'securityContext')['appArmorProfile'] = profile;
  }
}

function profileOf(annotation: string): JsonObject | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith(localPrefix)) return undefined;
  const name = annotation.slice(localPrefix.length);
  const isValid = name !== '' && name.trim() === name && name.length <= profileLengthMax;
  return isValid ? { type: 'Localhost', localhostProfile: name } : undefined;
}
