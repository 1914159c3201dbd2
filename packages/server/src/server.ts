/**
 * The API server: a function from a request to a response. Outside in: error responses, request info, authentication, authorization, then
 * the document, the subresource or the verb that the path names.
 */

import { internalError, StatusError } from '@hangar/api';
import { asError, isTraced, traced } from '@hangar/core';
import type { TraceAttributes } from '@hangar/core';
import type { AuditRecord } from './audit/auditor.ts';
import type { AnonymousAccess } from './auth/anonymous.ts';
import type { Authenticator } from './auth/authenticate.ts';
import type { Authorizer } from './auth/authorize.ts';
import { Entrance } from './auth/entrance.ts';
import type { StrangerRefusal } from './auth/entrance.ts';
import { forbidden } from './auth/forbidden.ts';
import { Guard } from './auth/guard.ts';
import type { Impersonated } from './auth/impersonation/impersonate.ts';
import { impersonate } from './auth/impersonation/impersonate.ts';
import { wantedUser } from './auth/impersonation/wanted.ts';
import { isPromise } from './auth/promise.ts';
import type { TokenAuthenticator } from './auth/tokens.ts';
import { refuseParent } from './auth/parent-extras.ts';
import { anonymous } from './auth/user.ts';
import type { User } from './auth/user.ts';
import { Documents } from './documents/documents.ts';
import type { DocumentsOptions } from './documents/documents.ts';
import type { Fairness, Turn } from './fairness/fairness.ts';
import { closingWith, endingBy, isStreaming } from './http/message.ts';
import type { Answer, ServerRequest, Streaming } from './http/message.ts';
import { connections } from './metrics/request-labels.ts';
import type { FinishedRequest, RequestMetrics } from './metrics/request-metrics.ts';
import { errorAnswer } from './objects/answers.ts';
import { PageNotFound, pageNotFoundAnswer } from './objects/page-not-found.ts';
import { forPeople } from './objects/pretty.ts';
import { statusOfStoreError } from './objects/store-errors.ts';
import { requestInfo } from './request/info.ts';
import type { RequestInfo, ResourceRequest } from './request/info.ts';
import { Query, splitTarget } from './request/query.ts';
import { selectedRequest } from './request/selectors.ts';
import type { Resource } from './resources/resource.ts';
import { unknownResource } from './resources/unknown.ts';
import type { Call } from './verbs/call.ts';
import { dispatch } from './verbs/dispatch.ts';
import { insistOnVisible } from './verbs/visible.ts';

export interface ApiServerOptions extends DocumentsOptions {
  /** Tried in order; token authenticators after all others. */
  readonly authenticators: readonly (Authenticator | TokenAuthenticator)[];
  /** Tokens that authenticate requests but not reviews: see `GuardOptions`. */
  readonly visitors?: readonly TokenAuthenticator[];
  readonly authorizers: readonly Authorizer[];
  /** Audiences of tokens; absent: the audience of a cluster's own API. */
  readonly audiences?: readonly string[];
  /** Absent: only health and version. */
  readonly anonymous?: AnonymousAccess;
  /** Absent: unauthenticated clients get 401 or anonymous access. */
  readonly strangerRefusal?: StrangerRefusal;
  /** Throws for requests that are currently not served for any user; called after authentication. */
  readonly admits?: (info: RequestInfo, request: ServerRequest, user: User) => void;
  /**
   * Sets the extras of users that only the server may set, instead of those that the client brought. Absent: users keep all extras, as
   * behind a trusted front proxy.
   */
  readonly scope?: (user: User) => User;
  /**
   * Calls `end` when the user loses access to the control plane: watches and connections end then. Returns a function that stops it, or
   * undefined for users that keep their access.
   */
  readonly follow?: FollowUser;
  /** Queues requests, after authentication. Absent: no queueing. */
  readonly fairness?: Fairness;
  /** Called for every internal error. */
  readonly onError: (error: Error) => void;
}

export type FollowUser = (user: User, end: () => void) => (() => void) | undefined;

/** Facts about a request, for audit and metrics. */
interface About extends FinishedRequest {
  /** The authenticated user. */
  user: User | undefined;
  /** The same, as the authenticator returned it. */
  identified: User | undefined;
  /** The impersonated user, if any. */
  impersonated: Impersonated | undefined;
  info: RequestInfo | undefined;
  resource: Resource | undefined;
  audit: AuditRecord | undefined;
  turn: Turn | undefined;
  query: string;
  contentType: string | undefined;
  status: number;
  bytes: number | undefined;
  isAggregatedDiscovery: boolean;
  excludedMs: number;
  /** Monotonic time at which authorization starts. */
  authorizesMs: number;
  readonly warnings: string[];
}

type Read = { readonly info: RequestInfo } | { readonly info: undefined; readonly error: unknown };

/** Parse errors are reported only to authenticated clients: others would learn from them that the control plane exists. */
function infoOf(method: string, path: string, isWatch: boolean): Read {
  try {
    return { info: requestInfo(method, path, isWatch) };
  } catch (error) {
    return { info: undefined, error };
  }
}

const spanOf = (request: ServerRequest) => (): TraceAttributes => ({
  traceparent: request.header('traceparent') ?? '',
  'http.request.method': request.method,
  'url.path': splitTarget(request.target).path,
});

export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #metrics: RequestMetrics;
  readonly #documents: Documents;
  readonly #guard: Guard;
  readonly #entrance: Entrance;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    const { clock, random, metrics } = options.plane;
    this.#guard = new Guard({ ...options, clock, random });
    this.#entrance = new Entrance({
      guard: this.#guard,
      isLetIn: options.anonymous,
      refusal: options.strangerRefusal,
      clock,
      metrics: metrics.access,
    });
    this.#metrics = metrics.requests;
    this.#documents = new Documents(options);
  }

  /** Authentication and authorization, for components that act on behalf of users. */
  get guard(): Guard {
    return this.#guard;
  }

  /** Never rejects. */
  handle(request: ServerRequest): Promise<Answer> {
    return isTraced() ? traced('request', () => this.#account(request), spanOf(request)) : this.#account(request);
  }

  async #account(request: ServerRequest): Promise<Answer> {
    const about: About = {
      user: undefined,
      identified: undefined,
      impersonated: undefined,
      info: undefined,
      resource: undefined,
      audit: undefined,
      turn: undefined,
      query: '',
      contentType: undefined,
      status: 0,
      bytes: undefined,
      isAggregatedDiscovery: false,
      startedMs: this.#metrics.began(request.method),
      excludedMs: 0,
      authorizesMs: 0,
      warnings: [],
    };
    const made = this.#followed(await this.#answer(request, about), about.identified);
    const answered = about.turn ? about.turn.left(made, about.resource) : made;
    this.#metrics.ended(request.method);
    const answer = this.#options.auditor ? this.#audited(request, about, answered) : answered;
    const isLong = finish(about, request, answer);
    if (isLong) return this.#countLongRunning(about, answer);
    this.#metrics.record(about);
    return answer;
  }

  #followed(answer: Answer, user: User | undefined): Answer {
    const { follow } = this.#options;
    if (!follow || !user || !isStreaming(answer.body)) return answer;
    return { ...answer, body: endingBy(answer.body, (end) => follow(user, end) ?? (() => {})) };
  }

  /** An unauthenticated request has no record yet. */
  #audited(request: ServerRequest, { audit, info }: About, answer: Answer): Answer {
    const record =
      audit ?? (info && answer.status === 401 ? this.#options.auditor!.begin(request, info, undefined) : undefined);
    return record ? record.answered(answer) : answer;
  }

  async #answer(request: ServerRequest, about: About): Promise<Answer> {
    try {
      return await forPeople(await this.#handle(request, about), request, this.#options.plane.clock);
    } catch (error) {
      if (!about.user) this.#options.fairness?.refusedUnknown();
      if (error instanceof PageNotFound) return pageNotFoundAnswer;
      const refusal = errorAnswer(this.#statusOf(error), request.header('accept'), about.warnings);
      const answer = await forPeople(refusal, request, this.#options.plane.clock);
      return about.user ? answer : { ...answer, isToStranger: true };
    }
  }

  /** Counts the watch or connection when it ends, as kube-apiserver does. */
  #countLongRunning(about: About, answer: Answer): Answer {
    const [info, resource] = [about.info as ResourceRequest, about.resource!];
    const body = answer.body as Streaming;
    const began = (): (() => void) => {
      const ended = this.#metrics.longRunningBegan(info, resource, about);
      return () => {
        ended();
        this.#metrics.record(about);
      };
    };
    if (info.verb !== 'watch') return { ...answer, body: closingWith(body, began()) };
    return {
      ...answer,
      body: {
        start: (sink) => {
          sink.onClose(began());
          if (this.#options.fairness) sink.onClose(this.#options.fairness.watchBegan(resource));
          body.start(sink);
        },
      },
    };
  }

  #statusOf(error: unknown): StatusError {
    if (error instanceof StatusError) return error;
    const ofStore = statusOfStoreError(error);
    if (ofStore) return ofStore;
    this.#options.onError(asError(error));
    return internalError(asError(error));
  }

  /** Requests without a user have no extras. */
  #scoped(user: User): User {
    const { scope } = this.#options;
    return scope && user !== anonymous ? scope(user) : user;
  }

  /** Waits in the fair queue. Rejects if the request is refused there. */
  async #waited(about: About, waiting: Promise<void>): Promise<void> {
    const { clock, catalogue } = this.#options.plane;
    const beforeMs = clock.monotonicMs();
    try {
      await waiting;
    } catch (error) {
      const { info, query } = about;
      // Known only after authorization otherwise.
      if (info?.isResource) about.resource = catalogue.find(info);
      this.#metrics.terminated({ info, resource: about.resource, query, status: 429 });
      throw error;
    } finally {
      about.excludedMs += clock.monotonicMs() - beforeMs;
      about.authorizesMs = 0;
    }
  }

  async #handle(given: ServerRequest, about: About): Promise<Answer> {
    let request = given;
    const { fairness } = this.#options;
    fairness?.arrives();
    const { path, query } = splitTarget(request.target);
    about.query = query;
    const parameters = new Query(query);
    const read = infoOf(request.method, path, query !== '' && (parameters.flag('watch') ?? false));
    about.info = read.info;
    const authenticating = traced('authenticate', () => this.#entrance.authenticate(given, path, about.startedMs));
    const identified = isPromise(authenticating) ? await authenticating : authenticating;
    const authenticated = this.#scoped(identified);
    about.user = authenticated;
    about.identified = identified;
    about.authorizesMs = this.#entrance.authenticatedMs;
    fairness?.runs();
    if (!read.info) throw read.error;
    const { info } = read;
    if (this.#options.auditor) {
      about.audit = this.#options.auditor.begin(request, info, authenticated);
      if (about.audit) request = about.audit.request;
    }
    this.#options.admits?.(info, given, identified);
    const selected = query === '' ? info : selectedRequest(info, path, parameters);
    const wanted = wantedUser(request);
    if (wanted) {
      if (this.#options.scope) refuseParent(wanted);
      about.authorizesMs = 0;
      about.impersonated = await impersonate({ guard: this.#guard, requestor: authenticated, wanted, info: selected });
      fairness?.runs();
    }
    const user = about.impersonated ? this.#scoped(about.impersonated.user) : authenticated;
    if (about.impersonated) about.audit?.impersonated(user);
    if (fairness) {
      about.turn = fairness.enter({ user, info, request });
      if (about.turn.waiting) await this.#waited(about, about.turn.waiting);
    }
    const authorizing = traced('authorize', () => this.#entrance.authorize(user, selected, about));
    const visibility = isPromise(authorizing) ? await authorizing : authorizing;
    if (isPromise(authorizing)) fairness?.runs();
    const remote = this.#options.aggregator?.find(path);
    // Another server cannot limit its answer to the visible objects.
    if (visibility && (remote || !info.isResource)) throw forbidden(user, info, '');
    if (remote) return this.#options.aggregator!.answer(remote, path, request, user);
    if (!info.isResource) return this.#documents.answer(request, path, query);
    const resource = this.#options.plane.catalogue.find(info);
    if (!resource) throw unknownResource(info);
    const { plane = this.#options.plane } = resource;
    about.resource = resource;
    const { warnings } = about;
    const call: Call = {
      plane,
      request,
      info,
      query: parameters,
      resource,
      user,
      guard: this.#guard,
      latency: about,
      warnings,
    };
    if (visibility) {
      Object.assign(call, { visibility });
      await insistOnVisible(call, visibility);
    }
    if (about.turn && info.subresource !== '') Object.assign(call, { leaveQueue: () => about.turn!.leavesEarly() });
    if (resource.deprecationWarning !== undefined) warnings.push(resource.deprecationWarning);
    return dispatch(call);
  }
}

const isLongRunning = ({ verb, subresource }: ResourceRequest): boolean =>
  verb === 'watch' || connections.has(subresource);

const aggregatedDiscovery = 'as=APIGroupDiscoveryList';

/** Notes the response. Reports whether it is a watch or a connection; other streams are finite: for example, a backup download. */
function finish(about: About, request: ServerRequest, { status, headers, body }: Answer): boolean {
  const { info, resource } = about;
  about.status = status;
  about.bytes = bytesOf(body);
  if (info?.isResource) {
    if (info.verb === 'patch') about.contentType = request.header('content-type');
    return about.bytes === undefined && resource !== undefined && isLongRunning(info);
  }
  about.isAggregatedDiscovery = String(headers['content-type']).includes(aggregatedDiscovery);
  return false;
}

function bytesOf(body: Answer['body']): number | undefined {
  if (body instanceof Uint8Array) return body.length;
  return isStreaming(body) ? undefined : body.reduce((sum, piece) => sum + piece.length, 0);
}
