/** Operations that are invoked by creating an object that is never stored: bindings, evictions, reviews. */

import { updateManagedFields, mergeTypeOfBuiltin } from '@hangar/api';
import { Slicer } from '@hangar/core';
import type { JsonObject, KubeObject } from '@hangar/api';
import { bodyBytesMax } from '../limits.ts';
import { decodeObject } from '../objects/decode.ts';
import type { KindReader } from '../objects/kind-reader.ts';
import { sentFormat } from '../request/media.ts';
import { managerOf, writeOptions } from '../request/options.ts';
import type { WriteOptions } from '../request/options.ts';
import { warn } from '../verbs/call.ts';
import type { Call } from '../verbs/call.ts';
import { settleNamespace, timestamp, wipeSystemFields } from '../verbs/metadata.ts';

export interface Posted {
  readonly object: KubeObject;
  readonly options: WriteOptions;
}

export interface PostedOptions {
  /** Keeps uid and version of the body: they are preconditions on the target object. */
  readonly keepsSystemFields?: boolean;
}

/** Throws 400. */
export async function readPosted(call: Call, reader: KindReader, rules: PostedOptions = {}): Promise<Posted> {
  const { request, query, plane } = call;
  const format = sentFormat(request.header('content-type'), true);
  const bytes = await request.body(bodyBytesMax);
  const options = writeOptions(query, 'CreateOptions');
  const { fieldValidation } = options;
  const slicer = new Slicer(plane.clock);
  const object = await decodeObject(bytes, {
    resource: reader,
    controlPlane: call.plane.name,
    format,
    slicer,
    fieldValidation,
    warn: (text) => warn(call, text),
  });
  if (!rules.keepsSystemFields) wipeSystemFields(object);
  settleNamespace(call, object);
  updateManagedFields({
    type: mergeTypeOfBuiltin(reader.struct),
    live: undefined,
    object,
    manager: managerOf(options, request.header('user-agent')),
    apiVersion: reader.apiVersion,
    subresource: call.info.subresource,
    now: timestamp(plane.clock),
    resetFields: [],
  });
  return { object, options };
}

/** Response of a successful operation. */
export const succeeded: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
