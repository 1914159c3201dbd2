/** VolumeAttachment: its spec never changes. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, forbidden, invalid, required, tooLong } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { byteLength, rangeReason } from '../formats.ts';
import { dnsSubdomainErrors } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { isSet, mapOf, optionalNumber, optionalStruct, optionalText, structOf, textOf } from '../shared/read.ts';
import { csiDriverNameErrors } from './csi.ts';
import { volumeSpecErrors } from './persistent-volume.ts';

const metadataBytesMax = 256 * 1024;
const messageBytesMax = 1024;

function create(object: KubeObject): FieldError[] {
  const [spec, status] = [structOf(object, 'spec'), structOf(object, 'status')];
  const source = structOf(spec, 'source');
  const name = optionalText(source, 'persistentVolumeName');
  return [
    ...csiDriverNameErrors('spec.attacher', textOf(spec, 'attacher')),
    ...sourceErrors(source),
    ...dnsSubdomainErrors('spec.nodeName', textOf(spec, 'nodeName')),
    ...metadataErrors(mapOf(status, 'attachmentMetadata')),
    ...problemErrors('status.attachError', optionalStruct(status, 'attachError')),
    ...problemErrors('status.detachError', optionalStruct(status, 'detachError')),
    ...(name === undefined ? [] : dnsSubdomainErrors('spec.source.persistentVolumeName', name)),
  ];
}

function sourceErrors(source: JsonObject): FieldError[] {
  const path = 'spec.source';
  const inline = optionalStruct(source, 'inlineVolumeSpec');
  const name = optionalText(source, 'persistentVolumeName');
  const rule = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (!inline && name === undefined) return [required(path, rule)];
  if (inline && name !== undefined) return [forbidden(path, rule)];
  if (inline) {
    const at = child(path, 'inlineVolumeSpec');
    return volumeSpecErrors(inline, { path: at, volumeName: '', isInline: true, toleratesInvalidValues: false });
  }
  if (name !== '') return [];
  return [required(child(path, 'persistentVolumeName'), 'must specify non empty persistentVolumeName')];
}

function metadataErrors(metadata: Readonly<Record<string, string>>): FieldError[] {
  const bytes = Object.entries(metadata).reduce((sum, [name, value]) => sum + byteLength(name) + byteLength(value), 0);
  return bytes > metadataBytesMax ? [tooLong('status.attachmentMetadata', metadataBytesMax)] : [];
}

function problemErrors(path: string, problem: JsonObject | undefined): FieldError[] {
  const code = optionalNumber(problem, 'errorCode');
  const isLong = byteLength(textOf(problem, 'message')) > messageBytesMax;
  return [
    // The limit that Kubernetes names is not the one that it checks.
    ...(isLong ? [tooLong(child(path, 'message'), metadataBytesMax)] : []),
    ...(code !== undefined && code < 0 ? [invalid(child(path, 'errorCode'), code, rangeReason(0, 2 ** 31 - 1))] : []),
  ];
}

function shownSpec(spec: JsonObject): JsonObject {
  const source = structOf(spec, 'source');
  return {
    Attacher: textOf(spec, 'attacher'),
    Source: {
      PersistentVolumeName: optionalText(source, 'persistentVolumeName') ?? null,
      InlineVolumeSpec: isSet(source, 'inlineVolumeSpec') ? source['inlineVolumeSpec'] : null,
    },
    NodeName: textOf(spec, 'nodeName'),
  };
}

function specChangeErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  return equalValues(spec, structOf(old, 'spec')) ? [] : [invalid('spec', shownSpec(spec), 'field is immutable')];
}

export const volumeAttachment: KindValidation = {
  create,
  update: (object, old) => [...create(object), ...specChangeErrors(object, old)],
};
