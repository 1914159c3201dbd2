/**
 * The API server: a function from a request to an answer. Outside in: error answers, request info, authentication,
 * authorization, then the document, the subresource or the verb that the path names.
 */

import {
  StatusError,
  builtinServedGroups,
  internalError,
  methodNotSupported,
  notFound,
  unauthorized,
} from '@hangar/api';
import { asError, isTraced, traced } from '@hangar/core';
import type { TraceAttributes } from '@hangar/core';
import type { Aggregator } from './aggregation/aggregator.ts';
import type { Auditor, AuditRecord } from './audit/auditor.ts';
import { anonymousHealth } from './auth/anonymous.ts';
import type { AnonymousAccess } from './auth/anonymous.ts';
import type { Authenticator } from './auth/authenticate.ts';
import type { Authorizer, Judgement } from './auth/authorize.ts';
import { forbidden } from './auth/forbidden.ts';
import { Guard } from './auth/guard.ts';
import type { Impersonated } from './auth/impersonation/impersonate.ts';
import { impersonate } from './auth/impersonation/impersonate.ts';
import { wantedUser } from './auth/impersonation/wanted.ts';
import { isPromise } from './auth/promise.ts';
import { issuerDocument, issuerPaths } from './auth/service-accounts/documents.ts';
import type { ServiceAccounts } from './auth/service-accounts/service-accounts.ts';
import type { TokenAuthenticator } from './auth/tokens.ts';
import { anonymous } from './auth/user.ts';
import type { User } from './auth/user.ts';
import type { ControlPlane } from './control-plane.ts';
import { Discovery } from './documents/discovery.ts';
import { healthAnswer, healthPaths } from './documents/health.ts';
import type { HealthChecks } from './documents/health.ts';
import { OpenApi } from './documents/open-api.ts';
import { versionInfo } from './documents/version.ts';
import { PageNotFound, pageNotFoundAnswer } from './objects/page-not-found.ts';
import { isStreaming } from './http/message.ts';
import type { Answer, ServerRequest, Streaming } from './http/message.ts';
import { processMetrics } from './metrics/process-metrics.ts';
import { RequestMetrics } from './metrics/request-metrics.ts';
import { bytesAnswer, errorAnswer } from './objects/answers.ts';
import { statusOfStoreError } from './objects/store-errors.ts';
import { forPeople } from './objects/pretty.ts';
import { requestInfo } from './request/info.ts';
import type { RequestInfo, ResourceRequest } from './request/info.ts';
import { Query, splitTarget } from './request/query.ts';
import { selectedRequest } from './request/selectors.ts';
import type { Resource } from './resources/resource.ts';
import { subresourceOf } from './resources/resource.ts';
import { subresourceHandler } from './subresources/index.ts';
import type { Call } from './verbs/call.ts';
import { verbHandler } from './verbs/index.ts';

export interface ApiServerOptions {
  readonly plane: ControlPlane;
  /** Asked in order; those of tokens after all others. */
  readonly authenticators: readonly (Authenticator | TokenAuthenticator)[];
  readonly authorizers: readonly Authorizer[];
  /** Of tokens; absent: that of a cluster's own API. */
  readonly audiences?: readonly string[];
  /** By which tokens are issued; absent: none are. They are verified by authenticators. */
  readonly serviceAccounts?: ServiceAccounts;
  /** Absent: for health and version alone. */
  readonly anonymous?: AnonymousAccess;
  readonly health: HealthChecks;
  /** What other servers serve behind this one; absent: nothing. */
  readonly aggregator?: Aggregator;
  /** Absent: nothing is audited. */
  readonly auditor?: Auditor;
  /** What others count, in the format of Prometheus. */
  readonly metrics?: () => string;
  /** Host and port that clients are told. */
  readonly address: () => string;
  /** Told of every failure that is the server's own. */
  readonly onError: (error: Error) => void;
}

/** Inside a built-in group kube-apiserver's API answers, elsewhere its router. */
const unknownResource = ({ group }: { readonly group: string }): Error =>
  builtinServedGroups().some(({ name }) => name === group) ? noSuchResource() : new PageNotFound();

function unknownPath(path: string): Error {
  const [, root, group = ''] = path.split('/');
  if (root === 'api') return unknownResource({ group: '' });
  return root === 'apis' && group !== '' ? unknownResource({ group }) : new PageNotFound();
}

const noSuchResource = (): StatusError =>
  new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });

/** A namespace's own path has it as its namespace, too. */
const isNamespaceItself = ({ group, resource, namespace, name }: ResourceRequest): boolean =>
  group === '' && resource === 'namespaces' && namespace === name;

const resourceName = ({ group, name }: Resource) => ({ group, resource: name });

/** Whoever may reach the port may ask whether the server is well. */
const isPublic = (path: string): boolean => healthPaths.test(path) || path === '/version';

const isRead = (verb: string): boolean => verb === 'get' || verb === 'head';

/** What was found out about a request, for those who account for it. */
interface About {
  /** Who was authenticated. */
  user: User | undefined;
  /** As whom it acts, where that is somebody else. */
  impersonated: Impersonated | undefined;
  info: RequestInfo | undefined;
  resource: Resource | undefined;
  audit: AuditRecord | undefined;
  readonly warnings: string[];
}

const spanOf = (request: ServerRequest) => (): TraceAttributes => ({
  traceparent: request.header('traceparent') ?? '',
  'http.request.method': request.method,
  'url.path': splitTarget(request.target).path,
});

const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #discovery: Discovery;
  readonly #openApi: OpenApi;
  readonly #metrics: RequestMetrics;
  readonly #guard: Guard;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    const { clock, random } = options.plane;
    this.#guard = new Guard({ ...options, clock, random });
    this.#discovery = new Discovery(options.plane.catalogue, options.address, options.aggregator);
    this.#openApi = new OpenApi(options.plane.catalogue, options.aggregator);
    this.#metrics = new RequestMetrics(options.plane.clock);
  }

  /** Never rejects. */
  handle(request: ServerRequest): Promise<Answer> {
    return isTraced() ? traced('request', () => this.#account(request), spanOf(request)) : this.#account(request);
  }

  async #account(request: ServerRequest): Promise<Answer> {
    const about: About = {
      user: undefined,
      impersonated: undefined,
      info: undefined,
      resource: undefined,
      audit: undefined,
      warnings: [],
    };
    const ended = this.#metrics.begin(request.method);
    const answered = await this.#answer(request, about);
    ended(about.info, about.resource, answered.status);
    const answer = this.#options.auditor ? this.#audited(request, about, answered) : answered;
    return isStreaming(answer.body) && about.resource ? this.#countWatch(answer, answer.body, about.resource) : answer;
  }

  /** Who could not be authenticated has no record yet. */
  #audited(request: ServerRequest, { audit, info }: About, answer: Answer): Answer {
    const record =
      audit ?? (info && answer.status === 401 ? this.#options.auditor!.begin(request, info, undefined) : undefined);
    return record ? record.answered(answer) : answer;
  }

  async #answer(request: ServerRequest, about: About): Promise<Answer> {
    try {
      return forPeople(await this.#handle(request, about), request);
    } catch (error) {
      if (error instanceof PageNotFound) return pageNotFoundAnswer;
      return forPeople(errorAnswer(this.#statusOf(error), request.header('accept'), about.warnings), request);
    }
  }

  #countWatch(answer: Answer, body: Streaming, resource: Resource): Answer {
    return {
      ...answer,
      body: {
        start: (sink) => {
          sink.onClose(this.#metrics.watchBegan(resource));
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

  async #handle(given: ServerRequest, about: About): Promise<Answer> {
    let request = given;
    const { path, query } = splitTarget(request.target);
    const parameters = new Query(query);
    const info = requestInfo(request.method, path, query !== '' && (parameters.flag('watch') ?? false));
    about.info = info;
    const authenticating = traced('authenticate', () => this.#authenticate(given, path));
    const authenticated = isPromise(authenticating) ? await authenticating : authenticating;
    about.user = authenticated;
    if (this.#options.auditor) {
      about.audit = this.#options.auditor.begin(request, info, authenticated);
      if (about.audit) request = about.audit.request;
    }
    const selected = query === '' ? info : selectedRequest(info, path, parameters);
    const wanted = wantedUser(request);
    if (wanted) {
      about.impersonated = await impersonate({ guard: this.#guard, requestor: authenticated, wanted, info: selected });
    }
    const user = about.impersonated?.user ?? authenticated;
    if (about.impersonated) about.audit?.impersonated(user);
    const authorizing = traced('authorize', () => this.#authorize(user, selected, about.audit));
    if (authorizing) await authorizing;
    const remote = this.#options.aggregator?.find(path);
    if (remote) return this.#options.aggregator!.answer(remote, path, request, user);
    if (!info.isResource) return this.#document(request, path, query);
    const resource = this.#options.plane.catalogue.find(info);
    if (!resource) throw unknownResource(info);
    const { plane = this.#options.plane } = resource;
    about.resource = resource;
    const { warnings } = about;
    const call: Call = { plane, request, info, query: parameters, resource, user, guard: this.#guard, warnings };
    if (resource.deprecationWarning !== undefined) warnings.push(resource.deprecationWarning);
    return this.#dispatch(call, info, resource);
  }

  #dispatch(call: Call, info: ResourceRequest, resource: Resource): Promise<Answer> {
    // A resource of a namespace has no objects outside of one: it may only be looked at across all of them.
    if (resource.namespaced && info.namespace === '' && info.verb !== 'list' && info.verb !== 'watch') {
      if (!resource.struct) throw new PageNotFound();
      throw info.name === '' ? notAllowed(resource, info.verb) : noSuchResource();
    }
    if (!resource.namespaced && info.namespace !== '' && !isNamespaceItself(info)) {
      throw resource.struct ? noSuchResource() : new PageNotFound();
    }
    if (/[^/]/.test(info.rest) && info.subresource !== 'proxy') throw noSuchResource();
    if (info.subresource !== '') {
      const subresource = subresourceOf(resource, info.subresource);
      const handler = subresource && subresourceHandler(resource, subresource.name, info.verb);
      if (!subresource) throw resource.struct ? noSuchResource() : notFound(resourceName(resource), info.name);
      if (!handler) throw notAllowed(resource, info.verb);
      return handler(call);
    }
    if (resource.isTerminating && info.verb === 'create') {
      throw new StatusError('MethodNotAllowed', 'create not allowed while custom resource definition is terminating', {
        details: { group: resource.group, kind: resource.name },
      });
    }
    const handler = verbHandler(resource, info.verb, info.name !== '');
    if (!handler) throw notAllowed(resource, info.verb);
    return handler(call);
  }

  /** At once, when who it is was found out before. */
  #authenticate(request: ServerRequest, path: string): User | Promise<User> {
    const identifying = this.#guard.identify(request);
    if (isPromise(identifying)) return identifying.then((user) => user ?? this.#stranger(request, path));
    return identifying ?? this.#stranger(request, path);
  }

  #stranger(request: ServerRequest, path: string): User {
    const { anonymous: isLetIn = anonymousHealth } = this.#options;
    // Credentials that are not valid are refused even where none are needed.
    if (isLetIn(path) && request.header('authorization') === undefined) return anonymous;
    throw unauthorized();
  }

  /** Nothing to wait for when it is known at once. */
  #authorize(user: User, info: RequestInfo, audit: AuditRecord | undefined): void | Promise<void> {
    if (!info.isResource && isRead(info.verb) && isPublic(info.path)) return audit?.decided('allow', '');
    const judging = this.#guard.judge(user, info);
    if (judging instanceof Promise) return judging.then((judgement) => insistOn(user, info, judgement, audit));
    insistOn(user, info, judging, audit);
  }

  async #document(request: ServerRequest, path: string, query: string): Promise<Answer> {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new PageNotFound();
    if (path === '/version') return json(versionInfo);
    if (path === '/metrics') return bytesAnswer(200, metricsType, Buffer.from(this.#metricsText()));
    if (healthPaths.test(path)) return healthAnswer(path, query, this.#options.health);
    const found = this.#discovery.answer(path, request) ?? (await this.#openApi.answer(path, query, request));
    if (found) return found;
    const { serviceAccounts, address } = this.#options;
    const issuer =
      serviceAccounts && issuerDocument({ path, accept: request.header('accept') }, serviceAccounts, address());
    if (issuer) return issuer;
    if (path === '/') return json({ paths: this.#paths() });
    throw unknownPath(path);
  }

  #metricsText(): string {
    const { metrics, aggregator } = this.#options;
    const others = [metrics?.(), aggregator?.metrics()].filter((text) => text !== undefined && text !== '');
    return `${[this.#metrics.text(), ...others, processMetrics()].join('\n')}\n`;
  }

  #paths(): string[] {
    const groups = this.#options.plane.catalogue.groups;
    const named = groups.filter(({ name }) => name !== '');
    const own = named.flatMap(({ name, versions: all }) => [
      `/apis/${name}`,
      ...all.map((one) => `/apis/${name}/${one.name}`),
    ]);
    const remote = (this.#options.aggregator?.versions ?? []).flatMap(({ group, version }) =>
      group === '' ? [] : [`/apis/${group}`, `/apis/${group}/${version}`],
    );
    const versions = [...new Set([...own, ...remote])];
    const others = ['/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/version'];
    const issuer = this.#options.serviceAccounts ? issuerPaths(this.#options.serviceAccounts) : [];
    return [...issuer, '/api', '/api/v1', '/apis', ...versions.sort(), ...others].sort();
  }
}

/** Kubernetes' own kinds have no route for such a method, custom resources have a handler that says so. */
const notAllowed = ({ group, name: resource, struct }: Resource, verb: string): StatusError =>
  struct
    ? new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource', {
        details: {},
      })
    : methodNotSupported({ group, resource }, verb);

const json = (value: object): Answer =>
  bytesAnswer(200, 'application/json', Buffer.from(JSON.stringify(value, undefined, 2)));

function insistOn(
  user: User,
  info: RequestInfo,
  { decision, reason, error }: Judgement,
  audit: AuditRecord | undefined,
): void {
  audit?.decided(decision === 'allow' ? 'allow' : 'forbid', reason);
  if (decision === 'allow') return;
  throw error ?? forbidden(user, info, reason);
}
