/** Templates of pods, in everything that makes pods. */

import { child, forbidden, invalid, tooLong } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { byteLength, qualifiedNameReasons } from '../../formats.ts';
import { isEmpty } from '../base/checks.ts';
import type { TextMap } from '../base/checks.ts';
import { checkLabels } from '../base/label-selectors.ts';
import type { PodTemplate } from '../types/pod.ts';
import { checkPodAnnotations, checkProfilesAgree } from './annotations.ts';
import { checkPodSpec } from './pod-spec.ts';
import type { PodRules } from './rules.ts';

export function checkPodTemplate(errors: FieldError[], path: string, template: PodTemplate, rules: PodRules): void {
  const { metadata, spec = {} } = template;
  const annotations = metadata?.annotations;
  const specPath = child(path, 'spec');
  checkTemplateMetadata(errors, path, template, rules);
  checkPodSpec(errors, specPath, spec, { rules });
  checkProfilesAgree(errors, specPath, { annotations, spec });
  if (!isEmpty(spec.ephemeralContainers)) {
    const reason = 'ephemeral containers not allowed in pod template';
    errors.push(forbidden(child(specPath, 'ephemeralContainers'), reason));
  }
}

/** The paths leave out `metadata`, as the server keeps it inline. */
export function checkTemplateMetadata(
  errors: FieldError[],
  path: string,
  { metadata, spec = {} }: PodTemplate,
  rules: PodRules,
): void {
  const annotationsPath = child(path, 'annotations');
  checkLabels(errors, child(path, 'labels'), metadata?.labels);
  checkAnnotationNames(errors, annotationsPath, metadata?.annotations);
  checkPodAnnotations(errors, annotationsPath, metadata?.annotations, { spec, rules });
}

const annotationBytesMax = 256 * 1024;

/** Keys are compared without case. */
export function checkAnnotationNames(errors: FieldError[], path: string, annotations: TextMap | undefined): void {
  let bytes = 0;
  for (const name of sortKeys(Object.keys(annotations ?? {}))) {
    bytes += byteLength(name) + byteLength(annotations![name]!);
    for (const reason of qualifiedNameReasons(name.toLowerCase())) errors.push(invalid(path, name, reason));
  }
  if (bytes > annotationBytesMax) errors.push(tooLong(path, annotationBytesMax));
}
