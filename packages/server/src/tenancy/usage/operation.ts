/** `GET …/tenants/demo/usage`: returns what a tenant stores and has used, together with its quota. */

import { notFound } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { objectKey } from '../../control-plane.ts';
import type { Answer } from '../../http/message.ts';
import { objectAnswer, wantedBy } from '../../objects/answers.ts';
import { groupResource } from '../../verbs/call.ts';
import type { Call } from '../../verbs/call.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { tenantOf } from '../tenant.ts';
import { tenantUsage } from './tenant-usage.ts';
import { usageStatus } from './usage-status.ts';

export const usageOperation =
  (world: TenantWorld) =>
  async (call: Call): Promise<Answer> => {
    const { info, plane, resource } = call;
    const want = wantedBy(call);
    const { entry } = await plane.store.get(objectKey(plane, resource, '', info.name));
    const usage = entry && (await tenantUsage(world, info.name));
    if (!usage) throw notFound(groupResource(call), info.name);
    const { path, uid, spec } = tenantOf(entry);
    const answer = {
      kind: 'TenantUsage',
      apiVersion: resource.apiVersion,
      metadata: { name: path, uid, creationTimestamp: usage.since },
      spec: { quota: spec.quota ?? {} },
      status: usageStatus(usage),
    };
    return objectAnswer(call, want, answer as unknown as KubeObject);
  };
