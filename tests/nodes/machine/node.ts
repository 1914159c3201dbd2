/**
 * The nodes of one test, with their network.
 *
 *     await using nodes = await Nodes.create();
 *     const node = await nodes.start('node-a');          // containerd runs and has the images
 *     await node.joinPlane(plane);                       // kubelet and kube-proxy
 *     await node.killKubelet();
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { missingOf, Node, NodeNetwork, removeCgroup, thisMachine } from '@hangar/cli/machine';
import type { ImageArchive, Membership } from '@hangar/cli/machine';
import { imageArchives, imageName } from '../images/images.ts';
import type { ImageName } from '../images/images.ts';
import { removeLeftovers } from './leftovers.ts';
import { cgroupName, folderPrefix, interfaceName } from './names.ts';
import { toolPrograms } from './programs.ts';

export interface TestNodeOptions {
  /** Images to import. Absent: `defaultImages` of the catalogue. */
  readonly images?: readonly ImageName[];
}

export class Nodes implements AsyncDisposable {
  readonly network: NodeNetwork;
  readonly folder: string;
  readonly #nodes: Node[] = [];
  readonly #starting: Promise<void>[] = [];

  private constructor(network: NodeNetwork, folder: string) {
    this.network = network;
    this.folder = folder;
  }

  static async create(): Promise<Nodes> {
    const missing = await missingOf(thisMachine());
    if (missing.length > 0) {
      throw new Error(`this machine cannot run the nodes of tests/nodes. Missing:\n- ${missing.join('\n- ')}`);
    }
    await removeLeftovers();
    const folder = await mkdtemp(folderPrefix());
    const network = await NodeNetwork.find({ bridge: interfaceName(), firstNumber: process.pid });
    await network.create();
    return new Nodes(network, folder);
  }

  async start(name: string, { images }: TestNodeOptions = {}): Promise<Node> {
    const node = new Node({
      name,
      network: this.network,
      addresses: this.network.addressesOf(this.#nodes.length),
      folder: join(this.folder, name),
      cgroup: cgroupName(name),
      programs: toolPrograms,
      pauseImage: imageName('pause'),
    });
    this.#nodes.push(node);
    const started = archivesOf(images).then((archives) => node.start({ images: archives }));
    this.#starting.push(started);
    await started;
    return node;
  }

  /** Starts a node as a member of the control plane. Returns before the Node is ready. */
  async startMember(name: string, membership: Membership): Promise<Node> {
    const node = await this.start(name);
    await node.joinPlane(membership);
    return node;
  }

  /** Returns the last lines of the output of all programs of all nodes, for the report of a failure. */
  async logs(): Promise<string> {
    return (await Promise.all(this.#nodes.map((node) => node.logs()))).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#starting);
    const results = await Promise.allSettled(this.#nodes.map((node) => node.stop()));
    await this.network.remove();
    for (const node of this.#nodes) await removeCgroup(node.cgroup);
    await rm(this.folder, { recursive: true, force: true });
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}

/** Returns the archives of the images for `Node.start`. */
export async function archivesOf(images?: readonly ImageName[]): Promise<ImageArchive[]> {
  return [...(await imageArchives(images))].map(([name, path]) => ({ name: imageName(name), path }));
}
