/**
 * A node: namespaces with containerd, a kubelet and kube-proxy.
 *
 *     await using nodes = await Nodes.create();
 *     const node = await nodes.start('node-a');          // containerd runs and has the images
 *     await node.joinPlane(plane);                       // kubelet and kube-proxy
 *     await node.killKubelet();
 */

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupName, folderPrefix } from './names.ts';
import { createCgroup, removeCgroup } from './cgroups.ts';
import type { ImageName } from '../images/images.ts';
import { startContainerd } from './containerd.ts';
import { startKubelet } from './kubelet.ts';
import type { KubeletOptions } from './kubelet.ts';
import { startKubeProxy } from './kube-proxy.ts';
import { removeLeftovers } from './leftovers.ts';
import { Namespaces } from './namespaces.ts';
import { NodeNetwork } from './network.ts';
import type { NodeAddresses } from './network.ts';
import { lastLines, NodeProgram } from './program.ts';
import { checkRequirements } from './requirements.ts';

export type Join = Pick<KubeletOptions, 'bootstrapKubeconfig' | 'clientAuthority' | 'configuration'>;

export interface NodeOptions {
  /** Images to import. Absent: all. */
  readonly images?: readonly ImageName[];
}

/** The nodes of one test, with their network. */
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
    await checkRequirements();
    await removeLeftovers();
    const folder = await mkdtemp(folderPrefix());
    return new Nodes(await NodeNetwork.create(), folder);
  }

  async start(name: string, options: NodeOptions = {}): Promise<Node> {
    const node = new Node(name, this.network, this.network.addressesOf(this.#nodes.length), join(this.folder, name));
    this.#nodes.push(node);
    const started = node.start(options);
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

export interface Membership {
  readonly join: Join;
  /** Path of the kubeconfig of `system:kube-proxy`. */
  readonly kubeProxyKubeconfig: string;
}

export class Node {
  readonly name: string;
  readonly addresses: NodeAddresses;
  readonly folder: string;
  readonly cgroup: string;
  readonly #network: NodeNetwork;
  readonly #programs = new Map<string, NodeProgram>();
  #namespaces: Namespaces | undefined;

  constructor(name: string, network: NodeNetwork, addresses: NodeAddresses, folder: string) {
    this.name = name;
    this.addresses = addresses;
    this.folder = folder;
    this.cgroup = cgroupName(name);
    this.#network = network;
  }

  get namespaces(): Namespaces {
    if (!this.#namespaces) throw new Error(`node ${this.name} is stopped`);
    return this.#namespaces;
  }

  /** Starts the namespaces and containerd; after `stop`, with the files of the earlier run. */
  async start({ images }: NodeOptions = {}): Promise<void> {
    await mkdir(join(this.folder, 'logs'), { recursive: true });
    await createCgroup(this.cgroup);
    this.#namespaces = await Namespaces.start(this.name, this.folder);
    await this.#network.connect(this.addresses, this.#namespaces.pid);
    const { podNetwork } = this.addresses;
    const places = { folder: join(this.folder, 'containerd'), logFile: this.logFile('containerd') };
    const options = { ...places, podNetwork, ...(images && { images }) };
    this.#programs.set('containerd', await startContainerd(this.namespaces, options));
  }

  /** Starts the kubelet, or starts it again. Returns before the Node is ready. */
  async startKubelet(join: Join): Promise<void> {
    const { name, cgroup, addresses } = this;
    const places = { folder: this.#folderOf('kubelet-config'), logFile: this.logFile('kubelet') };
    const options = { ...join, ...places, nodeName: name, address: addresses.address, cgroup };
    this.#programs.set('kubelet', await startKubelet(this.namespaces, options));
  }

  /** Starts the kubelet and kube-proxy as a member of the control plane. Returns before the Node is ready. */
  async joinPlane({ join, kubeProxyKubeconfig }: Membership): Promise<void> {
    await this.startKubelet(join);
    await this.startKubeProxy(kubeProxyKubeconfig);
  }

  /** Kills the kubelet alone; pods continue. */
  async killKubelet(): Promise<void> {
    await this.#programs.get('kubelet')?.stop('SIGKILL');
  }

  async startKubeProxy(kubeconfig: string): Promise<void> {
    const places = { folder: this.#folderOf('kube-proxy'), logFile: this.logFile('kube-proxy') };
    const options = { ...places, kubeconfig, nodeName: this.name, podNetwork: this.addresses.podNetwork };
    this.#programs.set('kube-proxy', await startKubeProxy(this.namespaces, options));
  }

  readFile(path: string): Promise<string> {
    return this.run('cat', path);
  }

  /** Keeps a symbolic link, and writes the file that it names. */
  async writeFile(path: string, text: string): Promise<void> {
    const file = join(this.folder, 'new-file');
    await writeFile(file, text, { mode: 0o600 });
    await this.run('cp', file, path);
  }

  /** Runs a command on the node, and returns its output. */
  run(program: string, ...args: readonly string[]): Promise<string> {
    return this.namespaces.run(program, ...args);
  }

  /** Starts a program of the node; it is part of `logs`. */
  async startProgram(name: string, path: string, args: readonly string[]): Promise<NodeProgram> {
    const program = await NodeProgram.start(this.namespaces, { path, args, logFile: this.logFile(name) });
    this.#programs.set(name, program);
    return program;
  }

  /** Ends everything on the node at once, as a power cut does. */
  async stop(): Promise<void> {
    this.#programs.clear();
    await this.#namespaces?.stop();
    this.#namespaces = undefined;
    this.#network.disconnect(this.addresses);
  }

  logFile(program: string): string {
    return join(this.folder, 'logs', `${program}.log`);
  }

  #folderOf(program: string): string {
    return join(this.folder, program);
  }

  async logs(): Promise<string> {
    const files = await readdir(join(this.folder, 'logs')).catch(() => []);
    const texts = files.map(
      async (file) => `── ${this.name} ${file}\n${await lastLines(join(this.folder, 'logs', file))}`,
    );
    return (await Promise.all(texts)).join('\n');
  }
}
