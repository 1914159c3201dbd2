/** A client of a control plane, with the credential of its administrator. */

import { dumpYaml } from '@hangar/api/yaml';
import type { Client } from '@hangar/client';
import { kubeconfigOf } from '../kubeconfig/access.ts';
import type { ControlPlaneObject } from '../kinds.ts';
import type { Session } from '../session.ts';
import { accessOf } from './access.ts';

/** `client`: of the management plane. The caller closes the result. */
export async function planeClient(session: Session, client: Client, plane: ControlPlaneObject): Promise<Client> {
  const access = await accessOf(client, plane, { isExternal: false, signal: session.signal });
  const { configOfKubeconfig } = await import('@hangar/client');
  return session.connect(await configOfKubeconfig(dumpYaml(kubeconfigOf(plane.metadata.name!, access))));
}
