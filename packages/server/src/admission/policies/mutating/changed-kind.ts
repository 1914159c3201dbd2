/** The kind of the objects that a policy changes: how they merge, and how the result is decoded. */

import { mergeTypeOfBuiltin } from '@hangar/api';
import type { FieldReport, JsonObject, KubeObject, MergeType } from '@hangar/api';
import { kindReader } from '../../../objects/kind-reader.ts';
import type { Attributes } from '../attributes.ts';
import type { Match } from '../match-criteria.ts';

export interface ChangedKind {
  readonly mergeType: MergeType;
  /** Unknown fields are errors instead of being dropped. */
  readonly isStrict: boolean;
  read(value: JsonObject, repeated: undefined): { object: KubeObject } & FieldReport;
  applyDefaults(object: KubeObject): void;
}

export function changedKind({ request: { plane } }: Attributes, { resource: name, kind }: Match): ChangedKind {
  const resource = plane.catalogue.find(name)!;
  if (resource.kind === kind.kind && resource.group === kind.group && resource.version === kind.version) {
    return {
      get mergeType() {
        return resource.mergeType;
      },
      isStrict: resource.struct !== undefined,
      read: (value, repeated) => resource.read(value, repeated),
      applyDefaults: (object) => resource.strategy.applyDefaults(object),
    };
  }
  // The kind of a subresource: Scale, Binding, Eviction.
  const reader = kindReader(kind.group === '' ? kind.version : `${kind.group}/${kind.version}`, kind.kind);
  return {
    get mergeType() {
      return mergeTypeOfBuiltin(reader.struct);
    },
    isStrict: true,
    read: (value, repeated) => reader.read(value, repeated),
    applyDefaults: (object) => reader.strategy.applyDefaults(object),
  };
}
