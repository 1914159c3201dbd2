/** What a control plane has inside besides what every tenant is born with: its administrator, and what joining nodes expect. */

import { Namespace, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import type { Subject } from '@hangar/client/kinds/rbac-v1';
import { clusterInfo } from '../join/cluster-info.ts';
import { bootstrapToken, joinObjects } from '../join/objects.ts';
import { adminName, systemNamespace } from '../kubeconfig/auth.ts';
import type { Auth } from '../kubeconfig/auth.ts';
import { digestOf } from './digest.ts';
import { inside } from './inside-object.ts';
import type { InsideObject } from './inside-object.ts';
import type { Pass } from './world.ts';

export interface Bootstrap {
  /** Before all others. */
  readonly namespace: InsideObject;
  readonly objects: readonly InsideObject[];
  /** What nodes join with: made anew far more often than all else. */
  readonly token: InsideObject;
  readonly clusterInfo: string;
  /** Of all of it but the token, for this very tenant; and of the token. */
  readonly digest: string;
  readonly tokenDigest: string;
}

const rbacGroup = 'rbac.authorization.k8s.io';

export async function bootstrapOf({ world, path, auth, addresses, join, tenant, servingCa }: Pass): Promise<Bootstrap> {
  const version = await world.hostFacts.version();
  const namespace = inside(Namespace, { name: systemNamespace }, {});
  const objects = [
    inside(ServiceAccount, { namespace: systemNamespace, name: adminName }, {}),
    adminBinding(auth!),
    ...joinObjects({ path, server: addresses!.join, version }),
  ];
  const info = clusterInfo(addresses!.join, servingCa!);
  const token = bootstrapToken(join!);
  const content = ({ kind, key, body }: InsideObject) => [kind.kind, key, body];
  const digest = digestOf([tenant!.metadata.uid, objects.map(content), info]);
  return { namespace, objects, token, clusterInfo: info, digest, tokenDigest: digestOf(content(token)) };
}

/** As the Secret says it when all of it is inside. */
export const insideText = ({ digest, tokenDigest }: Bootstrap): string => `${digest}/${tokenDigest}`;

/** Only who is the administrator by the model of today: what the other one was given is worth nothing from then on. */
const adminBinding = ({ model, role }: Auth): InsideObject =>
  inside(
    ClusterRoleBinding,
    { name: adminName },
    {
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
      subjects: [model === 'token' ? account : certificateUser],
    },
  );

const account: Subject = { kind: 'ServiceAccount', namespace: systemNamespace, name: adminName };
const certificateUser: Subject = { kind: 'User', apiGroup: rbacGroup, name: adminName };
