/**
 * The network of nodes: a bridge of this machine, and a cable to each node.
 *
 *     10.77.N.1         this machine       10.77.N.11, .12, …   nodes
 *     10.81.N.0/24      pods of the first node, 10.82.N.0/24 of the second, …
 *
 * N is a number that no other interface or route of this machine uses. Nodes have routes to the pods of the others, and so has this
 * machine: no address is translated.
 */

import { run } from './command.ts';

export interface NodeAddresses {
  readonly index: number;
  readonly address: string;
  readonly podNetwork: string;
}

export interface NetworkOptions {
  /** Name of the bridge: at most 13 characters, so that the names of cables have at most 15. */
  readonly bridge: string;
  /** Numbers to try first for a new network. */
  readonly preferred?: readonly number[];
  /** The number to try next; then the following ones. */
  readonly firstNumber: number;
}

const numbers = 250;
/** The networks of pods must stay below 10.96.0.0, where services are. */
export const nodesMax = 15;

export class NodeNetwork {
  readonly bridge: string;
  readonly number: number;
  /** Of this machine. */
  readonly hostAddress: string;
  #connecting: Promise<void> = Promise.resolve();
  readonly #nodes: { readonly addresses: NodeAddresses; readonly pid: number }[] = [];

  constructor(bridge: string, number: number) {
    this.bridge = bridge;
    this.number = number;
    this.hostAddress = `10.77.${number}.1`;
  }

  /** Returns the number of the network; undefined: it is not a network of nodes. */
  static numberOf(cidr: string): number | undefined {
    const [, number] = /^10\.77\.(\d{1,3})\.0\/24$/.exec(cidr) ?? [];
    return number === undefined || Number(number) >= numbers ? undefined : Number(number);
  }

  /** Returns the network of the bridge, or an unused one if the bridge does not exist. Changes nothing. */
  static async find({ bridge, preferred = [], firstNumber }: NetworkOptions): Promise<NodeNetwork> {
    // Not `os.networkInterfaces()`, which leaves out a bridge without cables.
    const used = await run('ip', '-oneline', '-4', 'address');
    const own = new RegExp(`^\\d+: ${bridge}\\s+inet 10\\.77\\.(\\d+)\\.1/24 `, 'm').exec(used);
    if (own) return new NodeNetwork(bridge, Number(own[1]));
    const routes = await run('ip', '-4', 'route');
    const others = Array.from({ length: numbers }, (_, tries) => (firstNumber + tries) % numbers);
    const isFree = (number: number): boolean =>
      !used.includes(` 10.77.${number}.`) && !routes.includes(`10.77.${number}.0/`);
    const free = [...preferred, ...others].find(isFree);
    if (free !== undefined) return new NodeNetwork(bridge, free);
    throw new Error(`this machine uses all of the networks 10.77.0.0/24 to 10.77.${numbers - 1}.0/24`);
  }

  /** Creates the bridge unless it exists. */
  async create(): Promise<void> {
    const existing = await run('ip', '-oneline', '-4', 'address', 'show', 'dev', this.bridge).catch(() => undefined);
    if (existing?.includes(` ${this.hostAddress}/`)) return;
    if (existing === undefined) await run('ip', 'link', 'add', this.bridge, 'type', 'bridge');
    await run('ip', 'address', 'add', `${this.hostAddress}/24`, 'dev', this.bridge);
    await run('ip', 'link', 'set', this.bridge, 'up');
  }

  get nodeNetwork(): string {
    return `10.77.${this.number}.0/24`;
  }

  /** The networks of the nodes and of the pods of four nodes. */
  get networks(): string[] {
    return [this.nodeNetwork, ...[0, 1, 2, 3].map((index) => this.addressesOf(index).podNetwork)];
  }

  addressesOf(index: number): NodeAddresses {
    return { index, address: `10.77.${this.number}.${11 + index}`, podNetwork: `10.${81 + index}.${this.number}.0/24` };
  }

  /** Adds a running node that another process has connected, so that `connect` adds routes from and to it. */
  addPeer(addresses: NodeAddresses, pid: number): void {
    this.#nodes.push({ addresses, pid });
  }

  /** Connects the network namespace of the process. Nodes that start at the same time are connected one after the other. */
  connect(addresses: NodeAddresses, pid: number): Promise<void> {
    const connected = this.#connecting.then(() => this.#connect(addresses, pid));
    this.#connecting = connected.catch(() => {});
    return connected;
  }

  async #connect(addresses: NodeAddresses, pid: number): Promise<void> {
    const { index, address, podNetwork } = addresses;
    const cable = `${this.bridge}-${index}`;
    await run('ip', 'link', 'delete', cable).catch(() => {}); // Of a node that was stopped a moment ago.
    await run('ip', 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid));
    await run('ip', 'link', 'set', cable, 'master', this.bridge, 'up');
    const inside = (...args: string[]): Promise<string> => run('nsenter', `--net=/proc/${pid}/ns/net`, 'ip', ...args);
    await inside('link', 'set', 'lo', 'up');
    await inside('address', 'add', `${address}/24`, 'dev', 'eth0');
    await inside('link', 'set', 'eth0', 'up');
    // The kubelet and kube-proxy find the address of the node by the default route.
    await inside('route', 'add', 'default', 'via', this.hostAddress);
    await run('ip', 'route', 'replace', podNetwork, 'via', address, 'dev', this.bridge);
    this.#forget(addresses);
    for (const other of this.#nodes) {
      await inside('route', 'add', other.addresses.podNetwork, 'via', other.addresses.address);
      const back = ['ip', 'route', 'replace', podNetwork, 'via', address];
      await run('nsenter', `--net=/proc/${other.pid}/ns/net`, ...back);
    }
    this.#nodes.push({ addresses, pid });
  }

  /** Removes the route to the pods of a node that has ended. Its cable ends with its namespaces. */
  async disconnect(addresses: NodeAddresses): Promise<void> {
    this.#forget(addresses);
    await run('ip', 'route', 'delete', addresses.podNetwork, 'dev', this.bridge).catch(() => {});
  }

  #forget({ index }: NodeAddresses): void {
    const place = this.#nodes.findIndex(({ addresses }) => addresses.index === index);
    if (place !== -1) this.#nodes.splice(place, 1);
  }

  /** Removes the bridge and its routes. */
  async remove(): Promise<void> {
    await run('ip', 'link', 'delete', this.bridge);
  }
}
