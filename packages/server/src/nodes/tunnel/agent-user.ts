/** Authenticates agents: by a token for the tunnel, or by a client certificate. */

import type { Guard } from '../../auth/guard.ts';
import { bearerToken } from '../../auth/bearer.ts';
import type { User } from '../../auth/user.ts';
import type { ServerRequest } from '../../http/message.ts';

/** Audience of the tokens of agents, as in the manifests of konnectivity. A token for the API is not accepted, and vice versa. */
export const agentAudience = 'system:konnectivity-server';

const agentServiceAccount = 'system:serviceaccount:kube-system:konnectivity-agent';
const agentCertificateUser = 'system:konnectivity-agent';

/** Returns undefined if the client has no credential of the control plane. */
export async function agentUser(
  guard: Pick<Guard, 'identifyToken' | 'identifyConnection'>,
  request: ServerRequest,
): Promise<User | undefined> {
  const authorization = request.header('authorization');
  if (authorization === undefined) return guard.identifyConnection(request);
  const token = bearerToken(authorization);
  if (token === undefined) return undefined;
  // Also after an error: agents connect again.
  const proven = await guard.identifyToken(token, [agentAudience]).catch(() => undefined);
  return proven?.user;
}

/** Certificates may have a suffix, to tell agents apart: `system:konnectivity-agent:node-1`. */
export const isAgentUser = ({ name }: User): boolean =>
  name === agentServiceAccount || name === agentCertificateUser || name.startsWith(`${agentCertificateUser}:`);
