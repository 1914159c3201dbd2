/** A declared kind as a served resource: a custom resource with the verbs that its storage supports. */

import { invalidObject } from '@hangar/api';
import { Slicer } from '@hangar/core';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../control-plane.ts';
import type { Answer } from '../http/message.ts';
import { bodyBytesMax } from '../limits.ts';
import { objectAnswer, wantedBy } from '../objects/answers.ts';
import { decodeObject } from '../objects/decode.ts';
import { sentFormat } from '../request/media.ts';
import { writeOptions } from '../request/options.ts';
import { CustomServedResource } from '../resources/custom.ts';
import { refusedKind } from '../resources/resource.ts';
import type { Resource } from '../resources/resource.ts';
import { namespaceOf, warn } from '../verbs/call.ts';
import type { Call } from '../verbs/call.ts';
import { admissionRequest } from '../verbs/admission-request.ts';
import { fillSystemFields, settleNamespace, wipeSystemFields } from '../verbs/metadata.ts';
import { isCreateOnly } from './kind.ts';
import type { CreateOnly, Kind } from './kind.ts';
import { verbsOf } from './storage.ts';

export class DeclaredResource extends CustomServedResource {
  override readonly verbs: string[];
  override readonly storagePrefix: string;
  readonly handlers: Resource['handlers'];
  readonly #plane: ControlPlane | undefined;

  constructor(
    storage: Kind['storage'],
    planeOf: (resource: CustomServedResource) => ControlPlane | undefined,
    ...all: ConstructorParameters<typeof CustomServedResource>
  ) {
    super(...all);
    const isOrder = isCreateOnly(storage);
    const { spec } = all[0];
    this.storagePrefix = isOrder ? '' : `${spec.group}/${spec.names.plural}`;
    this.verbs = isOrder ? ['create'] : storage ? verbsOf(storage) : [...everyVerb];
    this.handlers = isOrder ? { create: (call) => answerOrder(call, storage) } : undefined;
    this.#plane = isOrder ? undefined : planeOf(this);
  }

  override get plane(): ControlPlane | undefined {
    return this.#plane;
  }
}

const everyVerb = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/** Admits and validates the object as for any create; then the handler determines the result. */
async function answerOrder(call: Call, { onCreate }: CreateOnly<KubeObject>): Promise<Answer> {
  const { plane, request, resource, user } = call;
  const want = wantedBy(call);
  const format = sentFormat(request.header('content-type'), false);
  const bytes = await request.body(bodyBytesMax);
  const options = writeOptions(call.query, 'CreateOptions');
  const { fieldValidation, isDryRun } = options;
  const slicer = new Slicer(plane.clock);
  const object = await decodeObject(bytes, {
    resource,
    controlPlane: call.plane.name,
    format,
    slicer,
    fieldValidation,
    warn: (text) => warn(call, text),
  });
  wipeSystemFields(object);
  settleNamespace(call, object);
  await plane.admission.mutate(admissionRequest(call, object, options));
  // Admission may change the object, but must not move it to another namespace.
  settleNamespace(call, object);
  fillSystemFields(object, plane.clock, plane.random);
  const errors = resource.strategy.validateCreate(object);
  if (errors.length > 0) throw invalidObject(refusedKind(resource), object.metadata.name ?? '', errors);
  await plane.admission.validate(admissionRequest(call, object, options));
  const made = await onCreate(object, { user, namespace: namespaceOf(call), isDryRun });
  return objectAnswer(call, want, { ...made, kind: resource.kind, apiVersion: resource.apiVersion }, 201);
}
