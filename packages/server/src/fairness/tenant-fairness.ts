/**
 * Passes the requests of one control plane through the `FairQueue` of the process: classifies them into flows, estimates costs that are not
 * measured, and limits the request rate.
 *
 * A request is classified when it has to wait. Members of the privileged group of the root plane operate this server and never wait. In
 * other control planes that group has priority only within its own control plane.
 */

import { mastersGroup } from '../auth/user.ts';
import type { User } from '../auth/user.ts';
import type { ControlPlane } from '../control-plane.ts';
import { isStreaming } from '../http/message.ts';
import type { Answer } from '../http/message.ts';
import { isPublicPath } from '../request/public-paths.ts';
import type { RequestInfo } from '../request/info.ts';
import type { Resource } from '../resources/resource.ts';
import type { FairQueue, Ticket } from './fair-queue.ts';
import { placeLabels } from './fairness-metrics.ts';
import type { Asked, Fairness, Turn } from './fairness.ts';
import { Classifier } from './flow-control/classifier.ts';
import type { Classified } from './flow-control/classifier.ts';
import { distinguished } from './flow-control/flow-schema.ts';
import { mandatoryLevels } from './flow-control/mandatory.ts';
import { nominalSeats } from './flow-control/priority-level.ts';
import { Rate } from './rate.ts';
import { beyondRate } from './refusal.ts';
import { TenantQueue } from './tenant-queue.ts';
import type { Place } from './tenant-queue.ts';

export interface TenantFairnessOptions {
  readonly queue: FairQueue;
  /** Without a store: the requests are passed on, and flow objects do not apply. */
  readonly plane: ControlPlane | Pick<ControlPlane, 'name' | 'clock'>;
  /** Rate limit; read for each request. Undefined: unlimited. */
  readonly requestsPerSecond?: () => number | undefined;
}

/** Estimated loop time in milliseconds that is not measured: work after a commit, notification of watchers, sending of large responses. */
const writeMs = 0.1;
const watcherMs = 0.01;
const watchMs = 0.1;
const mebibyteMs = 1;

const root = 'root';
const readVerbs = new Set(['get', 'list', 'watch', 'head', 'options']);

/** Reports whether the request changes flow objects, which then take effect even if no request has waited yet. */
const changesFlows = (info: RequestInfo): boolean =>
  info.isResource && info.group === 'flowcontrol.apiserver.k8s.io' && !readVerbs.has(info.verb);

export class TenantFairness implements Fairness {
  readonly #queue: FairQueue;
  readonly #tenant: TenantQueue;
  readonly #plane: TenantFairnessOptions['plane'];
  /** Undefined until a request has to wait. */
  #classifier: Classifier | undefined;
  readonly #isRoot: boolean;
  readonly #rate: Rate;
  readonly #requestsPerSecond: () => number | undefined;
  readonly #watchers = new Map<Resource, number>();
  /** Generation of the classifier that was passed to the queue. */
  #generation = -1;

  constructor({ queue, plane, requestsPerSecond = () => undefined }: TenantFairnessOptions) {
    this.#queue = queue;
    this.#plane = plane;
    this.#isRoot = plane.name === root;
    this.#tenant = new TenantQueue(plane.name, this.#isRoot);
    queue.add(this.#tenant);
    this.#rate = new Rate(plane.clock);
    this.#requestsPerSecond = requestsPerSecond;
  }

  arrives(): void {
    this.#queue.arrives();
  }

  refusedUnknown(): void {
    this.#queue.refusedUnknown();
  }

  runs(): void {
    this.#queue.runs(this.#tenant);
  }

  enter(asked: Asked): Turn {
    const { user, info } = asked;
    const classified = this.#classifiedIfKnown(user, info);
    if (!info.isResource && isPublicPath(info.path)) return new RequestTurn(this, classified, undefined);
    const perSecond = this.#requestsPerSecond();
    if (perSecond !== undefined && !this.#rate.take(perSecond)) {
      this.#queue.metrics.beyondRate();
      return new Refused(this.#queue.refuse(this.#tenant, beyondRate(this.#tenant.name, perSecond)));
    }
    const ticket = this.#ticketAtOnce(asked, classified);
    if (ticket) return new RequestTurn(this, classified, ticket);
    return this.#wait(asked, classified);
  }

  #ticketAtOnce({ user, info, request: { peer } }: Asked, classified: Classified | undefined): Ticket | undefined {
    const isPrivileged = user.groups.includes(mastersGroup);
    const neverWaits = this.#isRoot && isPrivileged;
    this.#queue.cameFrom(peer, neverWaits ? undefined : this.#tenant, isPrivileged);
    if (neverWaits) return this.#queue.pass(this.#tenant);
    return this.#queue.enter(this.#tenant, !readVerbs.has(info.verb), classified?.level);
  }

  /** The objects of the root plane are read with its first request, those of others when they are first needed. */
  #classifiedIfKnown(user: User, info: RequestInfo): Classified | undefined {
    const classifier = this.#classifier;
    if (classifier?.isLoaded) {
      if (this.#generation !== classifier.generation) this.#useLevels(classifier);
      return classifier.classify(user, info);
    }
    if (this.#isRoot || changesFlows(info)) this.#load();
    return undefined;
  }

  #load(): void {
    if (!('store' in this.#plane)) return;
    this.#classifier ??= new Classifier(this.#plane);
    void this.#classifier.load();
  }

  #wait({ user, info, request }: Asked, classified: Classified | undefined): Turn {
    const isExempt = user.groups.includes(mastersGroup);
    // Privileged users always match the exempt schema: no other schema can precede it.
    if (!classified && !isExempt) this.#load();
    const waiting = this.#queue.wait(this.#tenant, {
      place: classified ? placeOf(classified, user, info) : isExempt ? exempt : unread(user),
      isMutating: !readVerbs.has(info.verb),
      onGone: request.passing?.onGone,
    });
    return new RequestTurn(this, classified, undefined, waiting);
  }

  #useLevels({ levels, generation }: Classifier): void {
    const nominal = nominalSeats(levels.values(), this.#queue.seatsMax);
    this.#queue.useLevels(
      this.#tenant,
      new Map(
        [...levels.values()].map(({ name, lendable }) => {
          const seats = nominal.get(name)!;
          return [name, { nominal: seats, lendable: Math.round(seats * lendable) }];
        }),
      ),
    );
    this.#generation = generation;
  }

  watchBegan(resource: Resource): () => void {
    const count = (change: 1 | -1): void => {
      const now = (this.#watchers.get(resource) ?? 0) + change;
      if (now > 0) this.#watchers.set(resource, now);
      else this.#watchers.delete(resource);
    };
    count(1);
    return () => count(-1);
  }

  left(ticket: Ticket, { body }: Answer, resource: Resource | undefined): void {
    let laterMs = 0;
    if (ticket.isMutating) laterMs += writeMs + (resource ? (this.#watchers.get(resource) ?? 0) * watcherMs : 0);
    if (isStreaming(body)) laterMs += watchMs;
    else laterMs += (bytesOf(body) / 1_048_576) * mebibyteMs;
    if (laterMs > 0.01) this.#queue.charge(ticket, laterMs);
    this.#queue.leave(ticket);
  }

  /** The costs of the stream are estimated like those of a watch. */
  leftEarly(ticket: Ticket): void {
    this.#queue.charge(ticket, watchMs);
    this.#queue.leave(ticket);
  }

  close(): void {
    this.#queue.forget(this.#tenant);
    this.#classifier?.close();
  }
}

function placeOf({ schema, level }: Classified, user: User, info: RequestInfo): Place {
  const flow = `${schema.name} ${distinguished(schema, user, info)}`;
  return { level, flow, labels: placeLabels(level.name, schema.name) };
}

const exempt: Place = {
  level: mandatoryLevels.find(({ isExempt }) => isExempt)!,
  flow: 'exempt ',
  labels: placeLabels('exempt', 'exempt'),
};

/** Place of requests that wait before the objects are read: one level, with a flow per user. */
const unread = ({ name }: User): Place => ({ level: unreadLevel, flow: name, labels: unreadLabels });
const unreadLevel = {
  name: '',
  uid: '',
  isExempt: false,
  shares: 100,
  lendable: 0,
  borrowable: Infinity,
  queuing: { ofFlowMax: 300, max: 6_400 },
};
const unreadLabels = placeLabels('', '');

function bytesOf(body: Uint8Array | readonly Uint8Array[]): number {
  if (body instanceof Uint8Array) return body.length;
  return body.reduce((sum, piece) => sum + piece.length, 0);
}

class RequestTurn implements Turn {
  readonly waiting: Promise<void> | undefined;
  readonly #fairness: TenantFairness;
  readonly #classified: Classified | undefined;
  #ticket: Ticket | undefined;

  constructor(
    fairness: TenantFairness,
    classified: Classified | undefined,
    ticket: Ticket | undefined,
    waiting?: Promise<Ticket>,
  ) {
    this.#fairness = fairness;
    this.#classified = classified;
    this.#ticket = ticket;
    this.waiting = waiting?.then((given) => void (this.#ticket = given));
  }

  leavesEarly(): void {
    if (this.#ticket) this.#fairness.leftEarly(this.#ticket);
    this.#ticket = undefined;
  }

  left(answer: Answer, resource: Resource | undefined): Answer {
    if (this.#ticket) this.#fairness.left(this.#ticket, answer, resource);
    if (!this.#classified) return answer;
    return { ...answer, headers: { ...answer.headers, ...this.#classified.headers } };
  }
}

class Refused implements Turn {
  readonly waiting: Promise<void>;

  constructor(waiting: Promise<never>) {
    this.waiting = waiting;
  }

  leavesEarly(): void {}

  left(answer: Answer): Answer {
    return answer;
  }
}
