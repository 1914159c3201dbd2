/** `hangar projects kubeconfig NAME`: a kubeconfig of a project with the credential of the user at the management plane. */

import type { Call } from '../../command.ts';
import { ownCredential, projectCluster } from '../../control-planes/project-access.ts';
import { execEntry } from '../../kubeconfig/exec-entry.ts';
import { Project } from '../../kinds.ts';
import { platformConfig } from '../../platform.ts';
import { connectionWords } from '../common/connection-words.ts';
import { checkKubeconfigOutput, outputKubeconfig } from '../common/kubeconfig-output.ts';
import { served } from './served.ts';

export async function projectKubeconfig(call: Call): Promise<void> {
  checkKubeconfigOutput(call);
  const { session, given } = call;
  const name = given.args[1]!;
  const { signal } = session;
  await served((await call.client()).get(Project, { name }, { signal }), name);
  const config = await platformConfig(session, given);
  const cluster = await projectCluster(config, name);
  const user = given.flag('exec')
    ? execEntry({ program: session.program, name, user: ['--project'], connection: connectionWords(call) })
    : await ownCredential(config, signal);
  return outputKubeconfig(call, { name, access: { cluster, user }, kind: 'project' });
}
