/** Reports in OrganizationMemberships whether they are valid. The controller of Projects binds the roles. */

import { find } from '@hangar/client';
import type { Clock } from '@hangar/core';
import { isBeingDeleted, setCondition, writeStatus } from '@hangar/runtime';
import type { ControllerOptions, Predicate } from '@hangar/runtime';
import { Organization, OrganizationMembership } from '../api/index.ts';
import { membersOf } from '../indexes.ts';
import { membershipCondition } from './validity.ts';

/** A membership depends only on the existence and the namespace of its organization. */
const namespaceChanged: Predicate<Organization> = {
  update: (before, after) => before.status?.namespace !== after.status?.namespace,
};

export const membershipController = ({
  clock,
}: {
  readonly clock: Clock;
}): ControllerOptions<OrganizationMembership, [], [Organization]> => ({
  name: 'organizationmembership',
  for: OrganizationMembership,
  watches: [
    {
      kind: Organization,
      where: namespaceChanged,
      map: ({ metadata }, { cache }) =>
        Array.from(membersOf(cache, metadata.name!), (member) => ({
          namespace: member.metadata.namespace,
          name: member.metadata.name!,
        })),
    },
  ],
  async reconcile(request, { client, signal }) {
    const object = await find(client, OrganizationMembership, request);
    if (!object || isBeingDeleted(object)) return;
    const organization = await find(client, Organization, { name: object.spec.organizationRef.name });
    const observedGeneration = object.metadata.generation ?? 0;
    const next = { ...membershipCondition(object, organization), observedGeneration };
    const conditions = setCondition(object.status?.conditions, next, clock);
    const status = { ...object.status, observedGeneration, conditions };
    await writeStatus(client, { kind: OrganizationMembership, object, status, signal });
  },
});
