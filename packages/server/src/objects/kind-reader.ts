/** Reads bodies of built-in kinds that are not resources: Eviction, Scale. */

import { checkFields, normalise, parseApiVersion, schemaOf } from '@hangar/api';
import type { KubeObject, StructType } from '@hangar/api';
import type { Decodable } from './decode.ts';

export interface KindReader extends Decodable {
  readonly struct: StructType;
}

export function kindReader(apiVersion: string, kind: string): KindReader {
  const struct = schemaOf(apiVersion, kind)!;
  return {
    ...parseApiVersion(apiVersion),
    apiVersion,
    kind,
    struct,
    strategy: { applyDefaults: () => {} },
    read(value, repeated) {
      const report = checkFields(struct, value, repeated === undefined ? {} : { repeated });
      if (report.error !== undefined) return { object: value as KubeObject, ...report };
      const { kind: _, apiVersion: __, ...object } = normalise(struct, value);
      return { object: { kind, apiVersion, ...object } as unknown as KubeObject, ...report };
    },
  };
}
