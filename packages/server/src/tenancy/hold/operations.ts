/**
 * `POST …/tenants/demo/hold?id=`: fences all open views of the tenant on all servers; requests wait until the hold ends. The hold must be
 * requested again at least once a minute, or waiting requests are refused; the fence stays.
 * `POST …/tenants/demo/release?id=`: ends the hold.
 */

import { badRequest } from '@hangar/api';
import type { Answer } from '../../http/message.ts';
import { entryAnswer, wantedBy } from '../../objects/answers.ts';
import { writeOptions } from '../../request/options.ts';
import type { Call } from '../../verbs/call.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { commitTransition } from './commit-transition.ts';
import { givenMigrationId } from './migration-id.ts';
import { held, released } from './transitions.ts';
import type { Current, Transition } from './transitions.ts';

const bodyBytesMax = 64 * 1024;

type Decision = (current: Current, id: string) => Transition;

const operation =
  (world: TenantWorld, decide: Decision) =>
  async (call: Call): Promise<Answer> => {
    const want = wantedBy(call);
    const id = givenMigrationId(call.query);
    await call.request.body(bodyBytesMax);
    if (writeOptions(call.query, 'CreateOptions').isDryRun) throw badRequest('a migration step cannot be a dry run');
    const { entry } = await commitTransition(world, call, { decide: (current) => decide(current, id) });
    return entryAnswer(call, want, entry, 201);
  };

export const holdOperation = (world: TenantWorld) => operation(world, held);

export const releaseOperation = (world: TenantWorld) => operation(world, released);
