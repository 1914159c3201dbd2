/** The types with their own JSON form, under their names in OpenAPI documents. */

import type { ValueKind } from '../builtin/types.ts';
import type { JsonObject } from '../object.ts';
import type { NamedSchema } from './definitions.ts';

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

const same = (name: string, schema: JsonObject): NamedSchema => ({ name, write: () => schema });

/** Version 2 has no alternatives: it shows the first one. */
const either = (name: string, v2: JsonObject, v3: JsonObject): NamedSchema => ({
  name,
  write: ({ dialect }) => (dialect === 'v2' ? v2 : v3),
});

export const valueSchemas: Partial<Record<ValueKind, NamedSchema>> = {
  quantity: either(
    'io.k8s.apimachinery.pkg.api.resource.Quantity',
    { type: 'string' },
    { oneOf: [{ type: 'string' }, { type: 'number' }] },
  ),
  intorstring: either(
    'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    { type: 'string', format: 'int-or-string' },
    { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  ),
  time: same(`${meta}.Time`, { type: 'string', format: 'date-time' }),
  microtime: same(`${meta}.MicroTime`, { type: 'string', format: 'date-time' }),
  duration: same(`${meta}.Duration`, { type: 'string' }),
  raw: same('io.k8s.apimachinery.pkg.runtime.RawExtension', { type: 'object' }),
  fieldsv1: same(`${meta}.FieldsV1`, { type: 'object' }),
  json: same('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', {}),
};

export const patchSchema: NamedSchema = same(`${meta}.Patch`, { type: 'object' });
