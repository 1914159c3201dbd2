/**
 * Nodes on this machine. A node is a set of Linux namespaces with containerd, a kubelet and kube-proxy: everything ends with its first
 * process. Outside of the namespaces it has a folder, a cgroup, a route and a cable to a bridge. `hangar node run` and tests use it.
 *
 *     const network = await NodeNetwork.find({ bridge: 'nodes0', firstNumber: 0 });
 *     await network.create();
 *     const node = new Node({ name, network, addresses: network.addressesOf(0), folder, cgroup, programs });
 *     await node.start();
 *     await node.joinPlane(membership);
 */

export { listCgroups, removeCgroup } from './cgroups.ts';
export { run } from './command.ts';
export { containerdFiles, pluginNames, socket } from './containerd.ts';
export type { ImageArchive } from './containerd.ts';
export type { Files } from './files.ts';
export { kubeletArguments, kubeletFiles, machineSettings } from './kubelet.ts';
export { kubeProxyFiles } from './kube-proxy.ts';
export { NodeNetwork, nodesMax } from './network.ts';
export type { NodeAddresses } from './network.ts';
export { Node } from './node.ts';
export type { Join, Membership, NodeOptions } from './node.ts';
export { lastLines, NodeProgram } from './program.ts';
export { executableOf, InstalledPrograms, programNames } from './programs.ts';
export type { NodePrograms, ProgramName } from './programs.ts';
export { folderProblem, missingOf, missingPrograms, thisMachine } from './requirements.ts';
export { until } from './until.ts';
