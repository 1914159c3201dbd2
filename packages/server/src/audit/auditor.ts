/**
 * Records requests and their results in the detail that the policy requires. Bodies are read only at levels above Metadata: at Metadata no
 * secret can get into the log.
 */

import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@hangar/api';
import type { Clock } from '@hangar/core';
import { auditAnnotationsOf } from './annotations.ts';
import type { User } from '../auth/user.ts';
import { closingWith, isStreaming } from '../http/message.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import type { RequestInfo } from '../request/info.ts';
import { answeredBytes, answeredName, mayBeStatus, objectIn, objectText } from './bodies.ts';
import { eventText, factsText, microTime, objectReference, userInfo } from './event.ts';
import type { RequestCourse } from './event.ts';
import type { AuditPolicy, Stage, Verdict } from './policy.ts';
import type { AuditSink } from './sink.ts';

export interface AuditorOptions {
  readonly policy: AuditPolicy;
  readonly sinks: readonly AuditSink[];
  readonly clock: Clock;
  /** Added to every event. */
  readonly annotations?: Readonly<Record<string, string>>;
}

const auditIdLengthMax = 64;
export const auditIdHeader = 'audit-id';

export class Auditor {
  readonly #options: AuditorOptions;
  readonly #world: RecordWorld;
  #eventCount = 0;

  constructor(options: AuditorOptions) {
    this.#options = options;
    const { clock, sinks, annotations } = options;
    this.#world = {
      clock,
      annotations,
      write: (text, withoutObjects) => {
        this.#eventCount++;
        for (const sink of sinks) sink.write(text, withoutObjects);
      },
    };
  }

  /** Number of recorded events, without those of annotated auditors. */
  get eventCount(): number {
    return this.#eventCount;
  }

  /** Returns an auditor that adds an annotation to every event. Closed with this one. */
  annotated(key: string, value: string): Auditor {
    return new Auditor({ ...this.#options, annotations: { ...this.#options.annotations, [key]: value } });
  }

  /** Returns undefined if the policy excludes the request. `user` is undefined if not authenticated. */
  begin(request: ServerRequest, info: RequestInfo, user: User | undefined): AuditRecord | undefined {
    const { policy, clock } = this.#options;
    const verdict = policy.verdict(user, info);
    if (verdict.level === 'None') return undefined;
    const now = microTime(clock.now());
    const auditID = request.header(auditIdHeader)?.slice(0, auditIdLengthMax) || randomUUID();
    const facts = factsText({
      level: verdict.level,
      auditID,
      requestURI: request.originalTarget ?? request.target,
      verb: info.verb,
      user,
      address: request.peer.address,
      userAgent: request.header('user-agent'),
      receivedAt: now,
    });
    const record = new AuditRecord({ auditID, facts, info, verdict, request, receivedAt: now }, this.#world);
    record.stage('RequestReceived');
    return record;
  }

  async close(): Promise<void> {
    await Promise.all(this.#options.sinks.map((sink) => sink.close()));
  }
}

interface RecordWorld {
  readonly clock: Clock;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  write(text: string, withoutObjects: (() => string) | undefined): void;
}

const noTexts: ReadonlyMap<string, string> = new Map();

interface Begun {
  readonly auditID: string;
  readonly facts: string;
  readonly info: RequestInfo;
  readonly verdict: Verdict;
  readonly request: ServerRequest;
  readonly receivedAt: string;
}

export class AuditRecord {
  readonly #auditId: string;
  readonly #facts: string;
  readonly #event: RequestCourse;
  readonly #verb: string;
  readonly #verdict: Verdict;
  readonly #request: ServerRequest;
  readonly #world: RecordWorld;
  /** Fields of the event that are text already. */
  readonly #texts = new Map<'requestObject' | 'responseObject', string>();
  #body: Uint8Array | undefined;
  /** Request for the handlers: it copies the body into the record if the level requires it. */
  readonly request: ServerRequest;

  constructor({ auditID, facts, info, verdict, request, receivedAt }: Begun, world: RecordWorld) {
    const objectRef = objectReference(info);
    this.#auditId = auditID;
    this.#facts = facts;
    this.#verb = info.verb;
    this.#event = { stage: 'RequestReceived', stageTimestamp: receivedAt, ...(objectRef && { objectRef }) };
    if (world.annotations) this.#event.annotations = { ...world.annotations };
    this.#verdict = verdict;
    this.#world = world;
    this.#request = request;
    this.request = verdict.level === 'Metadata' ? request : this.#reading(request);
  }

  impersonated(user: User): void {
    this.#event.impersonatedUser = userInfo(user);
  }

  decided(decision: 'allow' | 'forbid', reason: string): void {
    this.annotate('authorization.k8s.io/decision', decision);
    this.annotate('authorization.k8s.io/reason', reason);
  }

  annotate(key: string, value: string): void {
    (this.#event.annotations ??= {})[key] ??= value;
  }

  /** Returns the response with the audit ID header of its event. */
  answered(answer: Answer): Answer {
    const { body } = answer;
    this.#conclude(answer);
    const headers = { ...answer.headers, [auditIdHeader]: this.#auditId };
    if (!isStreaming(body)) {
      this.stage('ResponseComplete');
      return { ...answer, headers };
    }
    this.stage('ResponseStarted');
    return { ...answer, headers, body: closingWith(body, () => this.stage('ResponseComplete')) };
  }

  stage(stage: Stage): void {
    if (this.#verdict.omitStages.has(stage)) return;
    this.#event.stage = stage;
    this.#event.stageTimestamp = microTime(this.#world.clock.now());
    const withoutObjects = this.#texts.size === 0 ? undefined : () => this.#withoutObjects();
    this.#world.write(eventText(this.#facts, this.#event, this.#texts), withoutObjects);
  }

  #withoutObjects(): string {
    const annotations = { ...this.#event.annotations, 'audit.k8s.io/truncated': 'true' };
    return eventText(this.#facts, { ...this.#event, annotations }, noTexts);
  }

  #conclude(answer: Answer): void {
    const { level, omitManagedFields } = this.#verdict;
    const event = this.#event;
    for (const [key, value] of auditAnnotationsOf(this.request) ?? []) this.annotate(key, value);
    const contentType = String(answer.headers['content-type'] ?? '');
    const told = statusTold(answer, contentType);
    event.responseStatus = { metadata: {}, code: answer.status, ...(told as JsonObject) };
    if (event.objectRef && this.#verb === 'create' && event.objectRef['name'] === undefined) {
      const name = told.details?.name ?? answeredName(answer);
      if (name !== undefined) event.objectRef['name'] = name;
    }
    if (level === 'Metadata') return;
    for (const [key, value] of auditAnnotationsOf(this.request, 'Request') ?? []) this.annotate(key, value);
    if (this.#body) {
      const sentType = this.#request.header('content-type') ?? '';
      const isValid = answer.status < 300;
      this.#log('requestObject', objectText(this.#body, { contentType: sentType, isValid, omitManagedFields }));
    }
    if (level !== 'RequestResponse' || isStreaming(answer.body)) return;
    const isValid = true;
    this.#log('responseObject', objectText(answeredBytes(answer), { contentType, isValid, omitManagedFields }));
  }

  /** As the truncating backend of kube-apiserver, adds an annotation if an object is too large. */
  #log(name: 'requestObject' | 'responseObject', text: string | undefined): void {
    if (text === 'TooLarge') this.annotate('audit.k8s.io/truncated', 'true');
    else if (text !== undefined) this.#texts.set(name, text);
  }

  #reading(request: ServerRequest): ServerRequest {
    const { method, target, originalTarget, peer, passing } = request;
    return {
      method,
      target,
      ...(originalTarget !== undefined && { originalTarget }),
      peer,
      header: (name) => request.header(name),
      headerValues: (name) => request.headerValues(name),
      headerNames: () => request.headerNames(),
      body: async (bytesMax) => (this.#body = await request.body(bytesMax)),
      ...(passing && { passing }),
    };
  }
}

interface StatusTold {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: JsonObject & { readonly name?: string };
}

/** Returns the fields of a Status besides its code; none if the response is an object. */
function statusTold(answer: Answer, contentType: string): StatusTold {
  if (!mayBeStatus(answer)) return {};
  const { kind, status, message, reason, details } = (objectIn(answeredBytes(answer), contentType) ??
    {}) as StatusTold & {
    kind?: string;
  };
  if (kind !== 'Status') return {};
  return {
    ...(status && { status }),
    ...(message && { message }),
    ...(reason && { reason }),
    ...(details && { details }),
  };
}
