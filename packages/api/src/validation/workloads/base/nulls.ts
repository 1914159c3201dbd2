/** Null means absent for the rules. Most objects have no nulls and are passed on as they are; others are copied without them. */

import { once } from '@hangar/cel/work';
import { schemaOf } from '../../../builtin/schemas.ts';
import { normalise } from '../../../fields/normalise.ts';
import type { JsonObject, KubeObject } from '../../../object.ts';
import { setOwn } from '../../../apply/values.ts';
import type { KindValidation } from '../../contract.ts';

/** In lists null is a zero of the list's type, which depends on the schema. */
function withoutNulls(object: KubeObject): KubeObject {
  const found = nullsIn(object);
  if (found === 'none') return object;
  if (found === 'members') return dropNulls(object) as KubeObject;
  const schema = schemaOf(object.apiVersion, object.kind);
  return dropNulls(schema ? normalise(schema, object) : object) as KubeObject;
}

type Found = 'none' | 'members' | 'items';

function nullsIn(value: object): Found {
  let found: Found = 'none';
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item = value[i] as unknown;
      if (typeof item !== 'object') continue;
      if (item === null) return 'items';
      const inner = nullsIn(item);
      if (inner === 'items') return inner;
      if (inner === 'members') found = inner;
    }
    return found;
  }
  for (const name in value) {
    const member = (value as JsonObject)[name];
    // No rule checks managedFields, and they can be large.
    if (typeof member !== 'object' || name === 'managedFields') continue;
    const inner = member === null ? 'members' : nullsIn(member);
    if (inner === 'items') return inner;
    if (inner === 'members') found = inner;
  }
  return found;
}

/** Returns the value itself if it has no nulls: only objects and lists that lead to a null are copied. */
function dropNulls(value: object): object {
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const item = value[i] as unknown;
      const inner = typeof item === 'object' && item !== null ? dropNulls(item) : item;
      if (inner !== item) (copy ??= [...(value as unknown[])])[i] = inner;
    }
    return copy ?? value;
  }
  let copy: JsonObject | undefined;
  for (const name of Object.keys(value)) {
    const member = (value as JsonObject)[name];
    if (typeof member !== 'object') continue;
    const inner = member === null ? undefined : dropNulls(member);
    if (inner === member) continue;
    copy ??= { ...value };
    if (inner === undefined) delete copy[name];
    else setOwn(copy, name, inner);
  }
  return copy ?? value;
}

/** Validated objects without their nulls. Warnings follow the validation of the same object. */
const validated = new WeakMap<KubeObject, KubeObject>();

function remembered(object: KubeObject): KubeObject {
  const whole = withoutNulls(object);
  validated.set(object, whole);
  return whole;
}

/** Returns the result of the last validation, once: the object may change after that. */
function recalled(object: KubeObject): KubeObject {
  const whole = validated.get(object);
  if (!whole) return withoutNulls(object);
  validated.delete(object);
  return whole;
}

/** The same validation, for objects that may have nulls. */
export function toleratingNulls({ create, update, warnings }: KindValidation): KindValidation {
  if (!warnings) {
    return {
      create: (object) => create(once(() => withoutNulls(object))),
      update: (object, old, subresource) =>
        update(
          once(() => withoutNulls(object)),
          once(() => withoutNulls(old)),
          subresource,
        ),
    };
  }
  return {
    create: (object) => create(once(() => remembered(object))),
    update: (object, old, subresource) =>
      update(
        once(() => remembered(object)),
        once(() => remembered(old)),
        subresource,
      ),
    warnings: (object, old) => warnings(recalled(object), old && recalled(old)),
  };
}
