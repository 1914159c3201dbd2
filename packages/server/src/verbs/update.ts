/** UPDATE: the body replaces the stored object. */

import type { KubeObject } from '@hangar/api';
import { Slicer } from '@hangar/core';
import type { Answer } from '../http/message.ts';
import { bodyBytesMax, unconditionalAttemptsMax } from '../limits.ts';
import { entryAnswer, wantedBy } from '../objects/answers.ts';
import { decodeObject } from '../objects/decode.ts';
import { sentFormat } from '../request/media.ts';
import { writeOptions } from '../request/options.ts';
import { warn } from './call.ts';
import type { Call } from './call.ts';
import { ownFields } from './create.ts';
import { checkName, dropRepeatedOwners, settleNamespace, wipeSystemFields } from './metadata.ts';
import { persist } from './persist.ts';

export async function update(call: Call): Promise<Answer> {
  const { request, resource, query, info } = call;
  const want = wantedBy(call);
  const bytes = await request.body(bodyBytesMax);
  const options = writeOptions(query, 'UpdateOptions');
  const format = sentFormat(request.header('content-type'), resource.struct !== undefined);
  const slicer = new Slicer(call.plane.clock);
  const decode = async (): Promise<KubeObject> => {
    const object = await decodeObject(bytes, {
      resource,
      controlPlane: call.plane.name,
      format,
      slicer,
      fieldValidation: options.fieldValidation,
      warn: (text) => warn(call, text),
    });
    settleNamespace(call, object);
    checkName(object, info.name);
    dropRepeatedOwners(call, object, false);
    return object;
  };
  // Errors in the body are reported before anything is read; each further attempt decodes it again.
  let decoded: KubeObject | undefined = await decode();
  const { entry, wasCreated } = await persist(call, {
    options,
    allowsCreate: resource.strategy.allowsCreateOnUpdate && info.subresource === '',
    insistsOnUid: true,
    attemptsMax: unconditionalAttemptsMax,
    async apply(live) {
      const object = decoded ?? (await decode());
      decoded = undefined;
      if (!live) wipeSystemFields(object);
      const owning = ownFields(call, live, object, options);
      if (owning) await owning;
      return object;
    },
  });
  return entryAnswer(call, want, entry, wasCreated ? 201 : 200);
}
