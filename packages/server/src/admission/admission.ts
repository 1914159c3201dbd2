/**
 * Runs the admission plugins between decoding a write and storing it. Mutating plugins run first, in order; validating plugins then see the
 * final object. If a plugin that calls external code changes the object, all mutating plugins run a second time.
 */

import { managedFieldsProblem } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { isTraced, traced } from '@hangar/core';
import type { HistogramSeries } from '@hangar/core';
import type { ControlPlane } from '../control-plane.ts';
import type { AnnotationLevel } from '../audit/annotations.ts';
import type { Guard } from '../auth/guard.ts';
import type { User } from '../auth/user.ts';
import type { Visibility } from '../auth/visibility.ts';
import type { StepType } from '../metrics/admission-metrics.ts';
import type { Verb } from '../request/info.ts';
import type { Resource } from '../resources/resource.ts';

export interface AdmissionRequest {
  readonly plane: ControlPlane;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  /** The authorized verb: an UPDATE operation can be an update or a patch. */
  readonly verb: Verb;
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent for deletions. Mutating plugins change it in place. */
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly user: User;
  /** The objects that the user's right is limited to. Absent: all. */
  readonly visibility?: Visibility | undefined;
  /** Checks further permissions of the user. */
  readonly guard: Guard;
  readonly isDryRun: boolean;
  /** The same object for all attempts of one write. */
  readonly attemptOf: object;
  /** CreateOptions, UpdateOptions or DeleteOptions of the client, with their type; undefined: none. */
  readonly options: JsonObject | undefined;
  /** Deadline of the request, in terms of the clock's `monotonicMs`. */
  readonly deadlineMs: number;
  /** Excludes time from the latency that service level objectives count. Absent: the latency is not measured. */
  excluded?(ms: number): void;
  warn(text: string): void;
  /** Adds an annotation to the audit event, at this audit level and above; absent: at all levels. The first value of a key is kept. */
  annotate(key: string, value: string, level?: AnnotationLevel): void;
}

/** State that the mutating plugins share during one request. */
export class MutationRounds {
  /** True in the second round. */
  isSecond = false;
  /** Set by a plugin whose change the other plugins must see. */
  needsSecond = false;
  #states: Map<object, unknown> | undefined;

  /** Returns the state that a plugin keeps between the rounds, created on first use. */
  state<T>(plugin: object, make: () => T): T {
    this.#states ??= new Map();
    let state = this.#states.get(plugin) as T | undefined;
    if (state === undefined) this.#states.set(plugin, (state = make()));
    return state;
  }
}

export interface AdmissionPlugin {
  readonly name: string;
  /** Resources that the plugin handles, as `group/resource`; absent: all. */
  readonly resources?: ReadonlySet<string>;
  /** May change `object`. Throws a `StatusError` to deny the request. */
  mutate?(request: AdmissionRequest, rounds: MutationRounds): void | Promise<void>;
  validate?(request: AdmissionRequest): void | Promise<void>;
  /** Stops all watches of the plugin. */
  close?(): void;
}

/** A plugin with the histograms of its duration, by operation and by type; created on demand. */
interface MeasuredPlugin {
  readonly plugin: AdmissionPlugin;
  readonly durations: Map<AdmissionRequest['operation'], HistogramSeries>;
}

interface Asked {
  readonly mutating: readonly MeasuredPlugin[];
  readonly validating: readonly MeasuredPlugin[];
}

/** Names of plugins whose time service level objectives exclude. */
const webhookPlugins = new Set(['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook']);

export class Admission {
  readonly #make: () => readonly AdmissionPlugin[];
  readonly #plane: Pick<ControlPlane, 'clock' | 'metrics'>;
  #plugins: readonly AdmissionPlugin[] | undefined;
  readonly #steps: Readonly<Record<StepType, Map<AdmissionRequest['operation'], HistogramSeries>>> = {
    admit: new Map(),
    validate: new Map(),
  };
  /** Plugins by resource. Most plugins handle only pods, and most writes are not to pods. */
  #asked = new WeakMap<Resource, Asked>();
  readonly #added: AdmissionPlugin[] = [];

  /** `make` creates the plugins on the first write. */
  constructor(make: () => readonly AdmissionPlugin[], plane: Pick<ControlPlane, 'clock' | 'metrics'>) {
    this.#make = make;
    this.#plane = plane;
  }

  /** Adds a plugin that runs after the others. */
  add(plugin: AdmissionPlugin): void {
    this.#added.push(plugin);
    this.#asked = new WeakMap();
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    const { mutating } = this.#askedAbout(request.resource);
    const managedFields = request.object?.metadata.managedFields;
    const rounds = new MutationRounds();
    await this.#step('admit', request, mutating, (plugin) => mutation(plugin, request, rounds));
    if (rounds.needsSecond) {
      rounds.isSecond = true;
      await this.#step('admit', request, mutating, (plugin) => mutation(plugin, request, rounds));
    }
    if (request.object && request.object.metadata.managedFields !== managedFields) {
      insistOnManagedFields(request, request.object, managedFields);
    }
  }

  async validate(request: AdmissionRequest): Promise<void> {
    const { validating } = this.#askedAbout(request.resource);
    await this.#step('validate', request, validating, (plugin) => validation(plugin, request));
  }

  /** Runs the plugins in order and measures them. */
  async #step(
    type: StepType,
    request: AdmissionRequest,
    plugins: readonly MeasuredPlugin[],
    run: (plugin: AdmissionPlugin) => void | Promise<void>,
  ): Promise<void> {
    const { clock, metrics } = this.#plane;
    const { operation } = request;
    const startMs = clock.monotonicMs();
    let beforeMs = startMs;
    for (const { plugin, durations } of plugins) {
      try {
        const pending = run(plugin);
        if (pending) await pending;
      } catch (error) {
        const afterMs = clock.monotonicMs();
        metrics.admission.plugin(plugin.name, type, operation, true).observe((afterMs - beforeMs) / 1_000);
        metrics.admission.step(type, operation, true).observe((afterMs - startMs) / 1_000);
        if (webhookPlugins.has(plugin.name)) request.excluded?.(afterMs - beforeMs);
        throw error;
      }
      const afterMs = clock.monotonicMs();
      let duration = durations.get(operation);
      if (!duration)
        durations.set(operation, (duration = metrics.admission.plugin(plugin.name, type, operation, false)));
      duration.observe((afterMs - beforeMs) / 1_000);
      if (webhookPlugins.has(plugin.name)) request.excluded?.(afterMs - beforeMs);
      beforeMs = afterMs;
    }
    const steps = this.#steps[type];
    let step = steps.get(operation);
    if (!step) steps.set(operation, (step = metrics.admission.step(type, operation, false)));
    step.observe((beforeMs - startMs) / 1_000);
  }

  #askedAbout(resource: Resource): Asked {
    let asked = this.#asked.get(resource);
    if (!asked) {
      const name = `${resource.group}/${resource.name}`;
      this.#plugins ??= this.#make();
      const plugins = [...this.#plugins, ...this.#added].filter(({ resources }) => resources?.has(name) ?? true);
      asked = {
        mutating: plugins.filter((plugin) => plugin.mutate).map(measured),
        validating: plugins.filter((plugin) => plugin.validate).map(measured),
      };
      this.#asked.set(resource, asked);
    }
    return asked;
  }

  close(): void {
    for (const plugin of [...(this.#plugins ?? []), ...this.#added]) plugin.close?.();
  }
}

const measured = (plugin: AdmissionPlugin): MeasuredPlugin => ({ plugin, durations: new Map() });

/** Records a span for each plugin when requests are traced. */
const mutation = (plugin: AdmissionPlugin, request: AdmissionRequest, rounds: MutationRounds): void | Promise<void> =>
  isTraced() ? traced(`mutate ${plugin.name}`, () => plugin.mutate!(request, rounds)) : plugin.mutate!(request, rounds);

const validation = (plugin: AdmissionPlugin, request: AdmissionRequest): void | Promise<void> =>
  isTraced() ? traced(`validate ${plugin.name}`, () => plugin.validate!(request)) : plugin.validate!(request);

/** Restores `managedFields` and warns if admission left them invalid. */
function insistOnManagedFields(
  request: AdmissionRequest,
  { metadata }: KubeObject,
  before: KubeObject['metadata']['managedFields'],
): void {
  const problem = managedFieldsProblem(metadata.managedFields);
  if (problem === undefined) return;
  if (before) metadata.managedFields = before;
  else delete metadata.managedFields;
  request.warn(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  );
}
