/**
 * Null means absent, and absent is what the rules look for. Most objects have no nulls and are passed on as they are;
 * those that have some are copied without them.
 */

import { schemaOf } from '../../../builtin/schemas.ts';
import { normalise } from '../../../fields/normalise.ts';
import { isObject } from '../../../object.ts';
import type { KubeObject } from '../../../object.ts';
import type { KindValidation } from '../../contract.ts';

/** In lists null is a zero of the list's type, which only the schema knows. */
function withoutNulls(object: KubeObject): KubeObject {
  const found = nullsIn(object);
  if (found === 'none') return object;
  if (found === 'members') return dropNulls(object) as KubeObject;
  const schema = schemaOf(object.apiVersion, object.kind);
  return dropNulls(schema ? normalise(schema, object) : object) as KubeObject;
}

type Found = 'none' | 'members' | 'items';

function nullsIn(value: unknown): Found {
  let found: Found = 'none';
  if (Array.isArray(value)) {
    for (const item of value) {
      if (item === null) return 'items';
      found = worse(found, nullsIn(item));
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      // No rule looks at it, and it can be large.
      if (name === 'managedFields') continue;
      found = value[name] === null ? worse(found, 'members') : worse(found, nullsIn(value[name]));
    }
  }
  return found;
}

const worse = (a: Found, b: Found): Found => (a === 'items' || b === 'items' ? 'items' : a === 'none' ? b : a);

function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isObject(value)) return value;
  // fromEntries defines members, so that a key such as __proto__ stays an ordinary one.
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (inner === null ? [] : [[name, dropNulls(inner)]])),
  );
}

/** The same validation, for objects that may have nulls. */
export function toleratingNulls({ create, update, warnings }: KindValidation): KindValidation {
  return {
    create: (object) => create(withoutNulls(object)),
    update: (object, old, subresource) => update(withoutNulls(object), withoutNulls(old), subresource),
    ...(warnings ? { warnings: (object, old) => warnings(withoutNulls(object), old && withoutNulls(old)) } : {}),
  };
}
