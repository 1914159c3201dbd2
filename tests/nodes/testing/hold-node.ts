/** A program that starts a node, prints its traces on this machine as JSON, and runs until it is killed. */

import { interfaceName } from '../machine/names.ts';
import { Nodes } from '../machine/node.ts';

export interface HeldNode {
  /** Process id of the first process of the node. */
  readonly pid: number;
  readonly folder: string;
  readonly cgroup: string;
  readonly bridge: string;
}

const nodes = await Nodes.create();
const node = await nodes.start('held', { images: ['pause'] });
const held: HeldNode = {
  pid: node.namespaces.pid,
  folder: nodes.folder,
  cgroup: node.cgroup,
  bridge: interfaceName(),
};
console.log(`held ${JSON.stringify(held)}`);
setInterval(() => {}, 60_000);
