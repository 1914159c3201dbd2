/** Objects of a control plane besides those that every new one has: its administrator, and the objects that joining nodes expect. */

import { Namespace, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import type { Subject } from '@hangar/client/kinds/rbac-v1';
import { bootstrapToken } from '../join/objects.ts';
import { adminName, systemNamespace } from '../kubeconfig/auth.ts';
import type { Auth } from '../kubeconfig/auth.ts';
import { digestOf } from './digest.ts';
import { inside } from './inside-object.ts';
import { joinPlace } from './nodes.ts';
import type { InsideObject } from './inside-object.ts';
import type { Pass } from './world.ts';

export interface Bootstrap {
  /** Created before all others. */
  readonly namespace: InsideObject;
  readonly objects: readonly InsideObject[];
  /** The token that nodes join with: renewed far more often than the rest. */
  readonly token: InsideObject;
  /** Undefined: it is not written here. */
  readonly clusterInfo: string | undefined;
  /** Digest of all objects except the token, for these very data; and of the token. */
  readonly digest: string;
  readonly tokenDigest: string;
}

const rbacGroup = 'rbac.authorization.k8s.io';

export async function bootstrapOf(pass: Pass): Promise<Bootstrap> {
  const { auth, join, plane, nodes } = pass;
  const { server, ca } = joinPlace(pass);
  const ofNodes = await plane!.nodeObjects({ server, ca, serviceCidr: nodes?.serviceCidr });
  const namespace = inside(Namespace, { name: systemNamespace }, {});
  const objects = [
    inside(ServiceAccount, { namespace: systemNamespace, name: adminName }, {}),
    adminBinding(auth!),
    ...ofNodes.objects,
  ];
  const info = ofNodes.clusterInfo;
  const token = bootstrapToken(join!);
  const content = ({ kind, key, body }: InsideObject) => [kind.kind, key, body];
  const digest = digestOf([plane!.uid, objects.map(content), info ?? null]);
  return { namespace, objects, token, clusterInfo: info, digest, tokenDigest: digestOf(content(token)) };
}

/** Annotation of the Secret when all objects are applied. */
export const insideText = ({ digest, tokenDigest }: Bootstrap): string => `${digest}/${tokenDigest}`;

/** Binds only the administrator of the current model: credentials of the other model lose their permissions. */
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
