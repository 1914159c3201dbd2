/** Admission of connections: before any lookup, the options of the connection are admitted as an object. */

import { schemaOf } from '@hangar/api';
import type { Field, JsonObject, KubeObject } from '@hangar/api';
import type { Query } from '../request/query.ts';
import { subresourceOf } from '../resources/resource.ts';
import { admissionRequest } from '../verbs/admission-request.ts';
import type { Call } from '../verbs/call.ts';

export async function admitConnection(call: Call): Promise<void> {
  const { plane } = call;
  const request = admissionRequest(call, optionsOf(call), { isDryRun: false, operation: 'CONNECT' });
  await plane.admission.mutate(request);
  await plane.admission.validate(request);
}

/** Builds PodExecOptions and similar objects from the query. */
function optionsOf({ resource, info, query }: Call): KubeObject {
  const { kind } = subresourceOf(resource, info.subresource)!;
  const object: JsonObject = { kind, apiVersion: 'v1', metadata: {} };
  for (const field of schemaOf('v1', kind)?.fields ?? []) {
    const value = field.name === 'path' ? pathOf(info) : valueOf(query, field);
    if (value !== undefined) object[field.name] = value;
  }
  return object as KubeObject;
}

/** Returns the path after the subresource. */
const pathOf = ({ rest }: Call['info']): string | undefined => (rest === '' ? undefined : `/${rest}`);

function valueOf(query: Query, { name }: Field): unknown {
  if (!query.has(name)) return undefined;
  switch (name) {
    case 'command':
      return [...query.all(name)];
    case 'ports':
      return query.all(name).map(Number);
    case 'container':
      return query.text(name);
    case 'stdin':
    case 'stdout':
    case 'stderr':
    case 'tty':
      // As Go parses a query: every value except `0` and `false` is true.
      return !['0', 'false'].includes(query.text(name).toLowerCase());
    default:
      return undefined;
  }
}
