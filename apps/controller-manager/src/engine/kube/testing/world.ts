/** A fleet in virtual time: Secrets, clusters that answer or do not, programs, and an engine over them. */

import assert from 'node:assert/strict';
import { ClientError } from '@hangar/client';
import type { HttpAnswer, HttpRequest, ObjectKey } from '@hangar/client';
import { abortError, aborted, CodedError, Logger, seededRandom, sleep } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Ownership } from '@hangar/runtime/clusters';
import { virtualClock } from '@hangar/testkit';
import type { VirtualClock } from '@hangar/testkit';
import type { Engine, FleetCluster, Kubeconfigs, Service, ServiceState, Serving } from '../../../contract.ts';
import { kubeEngine } from '../engine.ts';
import type { KubeEngineOptions } from '../engine.ts';
import type { Connect } from '../probe.ts';
import { MemoryPrograms } from './memory-programs.ts';

/** An HTTP code, or no answer at all. */
export type Answer = number | 'refuses' | 'hangs';

export class World {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly programs: MemoryPrograms;
  readonly secrets = new MemoryKubeconfigs();
  /** By the address of the server; others answer 200. */
  readonly answers = new Map<string, Answer>();
  readonly asked: string[] = [];
  readonly lines: string[] = [];
  readonly engine: Engine;
  /** Clients that were not closed. */
  open = 0;

  constructor(options: Partial<KubeEngineOptions> = {}, seed = 1) {
    this.clock = virtualClock({ seed });
    this.random = seededRandom(seed);
    this.programs = new MemoryPrograms(this.clock);
    this.engine = kubeEngine({
      programs: this.programs,
      kubeconfigs: this.secrets,
      executables: { controllers: '/bin/kube-controller-manager', scheduler: '/bin/kube-scheduler' },
      arguments: { controllers: [], scheduler: [] },
      peer: 'one',
      memoryLimitBytes: undefined,
      stopGraceMs: 1_500,
      debounceMs: 1_000,
      startConcurrency: 4,
      clock: this.clock,
      random: this.random,
      log: new Logger({ level: 'info', format: 'text', clock: this.clock, write: (line) => this.lines.push(line) }),
      connect: this.#connect,
      ...options,
    });
  }

  serve(name: string, service: Service = 'controllers'): Served {
    return new Served(this, name, service);
  }

  /** Nothing happened that must not. */
  assertSound(): void {
    assert.deepEqual(this.programs.violations, []);
  }

  /** Nothing is left of what was stopped. */
  async assertEmpty(): Promise<void> {
    await this.clock.settle();
    assert.equal(this.programs.running.size, 0, 'programs');
    assert.equal(this.secrets.followers, 0, 'followers');
    assert.equal(this.open, 0, 'connections');
  }

  readonly #connect: Connect = ({ server }) => {
    this.open++;
    let isOpen = true;
    return {
      raw: (request) => this.#answer(server, request),
      close: () => {
        if (isOpen) this.open--;
        isOpen = false;
        return Promise.resolve();
      },
    };
  };

  async #answer(server: string, { signal, target }: HttpRequest): Promise<HttpAnswer> {
    await sleep(this.clock, 2, signal);
    const { hostname, port } = new URL(server);
    const answer = hostname === '127.0.0.1' ? this.programs.statusAt(Number(port)) : (this.answers.get(server) ?? 200);
    if (hostname !== '127.0.0.1') this.asked.push(`${server}${target}`);
    if (answer === 'refuses') throw new ClientError('ConnectionFailed', `${server} cannot be reached: refused`);
    if (answer === 'hangs') {
      await aborted(signal!);
      throw abortError(signal!);
    }
    const body = Buffer.from('');
    return {
      status: answer,
      header: () => undefined,
      body: () => Promise.resolve(body),
      stream: async function* () {},
    };
  }
}

/** One service of one cluster, and its reported states. */
export class Served {
  readonly states: ServiceState[] = [];
  readonly ownership: TestOwnership;
  readonly name: string;
  readonly secret: ObjectKey;
  readonly serving: Serving;
  readonly #world: World;
  #cluster: FleetCluster;

  constructor(world: World, name: string, service: Service) {
    this.#world = world;
    this.name = name;
    this.secret = { namespace: 'fleet', name };
    this.ownership = new TestOwnership();
    this.#cluster = {
      name,
      source: { kind: 'ControlPlaneRegistration', name, uid: `uid-${name}` },
      services: new Set([service]),
      labels: {},
      address: undefined,
      secret: this.secret,
    };
    const report = (state: ServiceState): void => void this.states.push(state);
    this.serving = world.engine.serve({ cluster: this.#cluster, service, ownership: this.ownership, report });
  }

  get state(): ServiceState {
    return this.states.at(-1)!;
  }

  get phase(): string {
    return `${this.state.phase}/${this.state.reason}`;
  }

  update(change: Partial<FleetCluster>): void {
    this.serving.update((this.#cluster = { ...this.#cluster, ...change }));
  }

  /** `phase/reason`, or only the phase. */
  async until(wanted: string, withinMs = 60_000): Promise<void> {
    const isSo = (): boolean => this.phase === wanted || this.state.phase === wanted;
    try {
      await this.#world.clock.until(isSo, { withinMs });
    } catch (error) {
      throw new Error(`${this.name} is ${this.phase}, not ${wanted}: ${this.state.message}`, { cause: error });
    }
  }

  /** How many programs there were. */
  get starts(): number {
    return this.#world.programs.all.filter(({ options }) => options.cluster === this.name).length;
  }
}

export class TestOwnership implements Ownership {
  readonly token = 1;
  readonly controller = new AbortController();
  isProven = true;
  leftMs = 7_000;

  check(): void {
    if (!this.isProven) throw new CodedError('Fenced', 'the lease could not be renewed');
  }

  remainingMs(): number {
    return this.isProven ? this.leftMs : 0;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }
}

/** Secrets that tell of their changes. */
export class MemoryKubeconfigs implements Kubeconfigs {
  readonly #texts = new Map<string, string>();
  readonly #followers = new Set<{ readonly key: string; tell(text: string | undefined): void }>();

  get followers(): number {
    return this.#followers.size;
  }

  follow({ namespace, name }: ObjectKey, tell: (kubeconfig: string | undefined) => void): () => void {
    const follower = { key: `${namespace}/${name}`, tell };
    this.#followers.add(follower);
    tell(this.#texts.get(follower.key));
    return () => void this.#followers.delete(follower);
  }

  read({ namespace, name }: ObjectKey): Promise<string | undefined> {
    return Promise.resolve(this.#texts.get(`${namespace}/${name}`));
  }

  put({ namespace, name }: ObjectKey, text: string | undefined): void {
    const key = `${namespace}/${name}`;
    if (text === undefined) this.#texts.delete(key);
    else this.#texts.set(key, text);
    for (const follower of this.#followers) if (follower.key === key) follower.tell(text);
  }
}

/** A kubeconfig with a token. */
export const kubeconfigFor = (server: string, token = 'secret-token', user: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'tls-server-name': 'cluster' } }],
    users: [{ name: 'u', user: { token, ...user } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
