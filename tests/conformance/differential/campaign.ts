/** Runs many seeds, a few at a time; each kind of difference is minimised and reported once. */

import { clientOf } from './client.ts';
import type { Client } from './client.ts';
import { describeDifference, signature } from './difference.ts';
import { definitions } from './generate/definitions.ts';
import { sequence } from './generate/sequence.ts';
import { minimise } from './minimise.ts';
import { run } from './run.ts';
import type { Finding, Servers } from './run.ts';
import { describeStep } from './step.ts';
import type { Step } from './step.ts';
import { startHangar, startReal } from '../servers/index.ts';

export interface CampaignOptions {
  readonly from: number;
  readonly seeds: number;
  /** No new seeds after this time. */
  readonly timeMaxMs?: number;
  /** Stops after this many different findings. */
  readonly findingsMax?: number;
  tell(text: string): void;
}

export interface Report {
  readonly sequences: number;
  readonly requests: number;
  readonly accepted: number;
  /** Each in full, with the command that reproduces it. */
  readonly findings: readonly string[];
  /** Differences that did not reproduce. */
  readonly passing: readonly string[];
  readonly known: ReadonlyMap<string, number>;
}

const concurrency = 4;

interface Suspect {
  readonly seed: number;
  readonly steps: readonly Step[];
  readonly finding: Finding;
  readonly key: string;
}

/** Starts both servers, and stops them. */
export async function campaign(options: CampaignOptions): Promise<Report> {
  await using real = await startReal();
  await using ours = await startHangar();
  using realClient = await clientOf(real);
  using ourClient = await clientOf(ours);
  await Promise.all([realClient, ourClient].map(defineCustomResources));
  // Awaited here: the servers stop with this function.
  return await new Campaign({ real: realClient, ours: ourClient }, options).run();
}

class Campaign {
  readonly #servers: Servers;
  readonly #options: CampaignOptions;
  readonly #totals = { sequences: 0, requests: 0, accepted: 0 };
  readonly #findings = new Map<string, string>();
  readonly #passing: string[] = [];
  readonly #known = new Map<string, number>();
  /** Sequences with differences are minimised at the end, one by one. */
  readonly #suspects: Suspect[] = [];

  constructor(servers: Servers, options: CampaignOptions) {
    this.#servers = servers;
    this.#options = options;
  }

  async run(): Promise<Report> {
    const { from, seeds, timeMaxMs = Infinity, findingsMax = Infinity } = this.#options;
    const startedMs = performance.now();
    let next = from;
    const isOver = (): boolean =>
      next >= from + seeds || performance.now() - startedMs > timeMaxMs || this.#suspects.length >= findingsMax;
    const work = async (): Promise<void> => {
      while (!isOver()) await this.#one(next++);
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    for (const suspect of this.#suspects) await this.#look(suspect);
    return { ...this.#totals, findings: [...this.#findings.values()], passing: this.#passing, known: this.#known };
  }

  async #one(seed: number): Promise<void> {
    const steps = sequence(seed);
    const { finding, known, requests, accepted } = await run(this.#servers, steps);
    this.#totals.sequences++;
    this.#totals.requests += requests;
    this.#totals.accepted += accepted;
    for (const { name } of known) this.#known.set(name, (this.#known.get(name) ?? 0) + 1);
    if (this.#totals.sequences % 200 === 0) {
      this.#options.tell(`${this.#totals.sequences} sequences, ${this.#totals.requests} requests`);
    }
    if (!finding) return;
    const key = keyOf(steps, finding);
    if (this.#suspects.every((one) => one.key !== key)) this.#suspects.push({ seed, steps, finding, key });
  }

  async #look({ seed, steps, finding, key }: Suspect): Promise<void> {
    const minimal = await minimise(this.#servers, steps, finding);
    const text = tellFinding(seed, minimal?.steps ?? steps.slice(0, finding.at + 1), minimal?.finding ?? finding);
    if (minimal) this.#findings.set(key, text);
    else this.#passing.push(text);
    this.#options.tell(minimal ? text : `did not show again: ${text}`);
  }
}

/** Differences with one cause mostly occur in one verb, at the same paths, with texts that differ in names only. */
function keyOf(steps: readonly Step[], { at, differences }: Finding): string {
  const { method, contentType = '' } = steps[at]!;
  const values = differences.slice(0, 3).map(({ real, ours }) => `${shape(real)} ${shape(ours)}`);
  return `${method} ${contentType} ${signature(differences)} ${values.join()}`;
}

/** Returns texts without their quoted parts. */
const shape = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/"[^"]*"|'[^']*'|\w+\.[\w.]+|\d+/g, '').slice(0, 80) : typeof value;

function tellFinding(seed: number, steps: readonly Step[], { differences }: Finding): string {
  return [
    `seed ${seed}`,
    ...steps.map((step, at) => `  ${at + 1}. ${describeStep(step)}`),
    ...differences.slice(0, 8).map(describeDifference),
    `  again: node tests/conformance/differential/main.ts --seeds 1 --from ${seed}`,
  ].join('\n');
}

async function defineCustomResources(client: Client): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const definition of definitions) {
    const body = JSON.stringify(definition);
    const { status, text } = await client.send({ method: 'POST', target: path, headers, body });
    if (status !== 201) throw new Error(`${client.name}: ${text}`);
  }
  for (const definition of definitions) await isServed(client, definition['spec'] as Served);
}

interface Served {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string }[];
}

/** The real server takes some seconds; writes are accepted a little later than reads. */
async function isServed(client: Client, { group, names, versions }: Served): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  for (const { name } of versions) {
    const target = `/apis/${group}/${name}/${names.plural}`;
    while ((await client.send({ method: 'GET', target, headers: {} })).status !== 200) {
      if (performance.now() > deadlineMs) throw new Error(`${client.name} does not serve ${target}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
