/** Defaults of a CustomResourceDefinition. */

import type { KubeObject } from '../../object.ts';
import { asDefinition } from '../custom-resource-definition.ts';

/** Changes the definition in place; does nothing a second time. */
export function defaultDefinition(crd: KubeObject): void {
  const definition = asDefinition(crd);
  const { spec } = definition;
  const { names } = spec;
  const kind = names.kind ?? '';
  if (!names.singular && kind !== '') names.singular = kind.toLowerCase();
  if (!names.listKind && kind !== '') names.listKind = `${kind}List`;
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service && (service.port ?? undefined) === undefined) service.port = 443;
  if (!definition.status?.storedVersions?.length) {
    const storage = (spec.versions ?? []).find((version) => version.storage);
    if (storage !== undefined) definition.status = { ...definition.status, storedVersions: [storage.name] };
  }
}
