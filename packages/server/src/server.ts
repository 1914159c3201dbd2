/**
 * The API server: a function from a request to an answer. Outside in: error answers, request info, authentication,
 * authorization, then the document, the subresource or the verb that the path names.
 */

import {
  StatusError,
  builtinServedGroups,
  forbiddenRequest,
  internalError,
  methodNotSupported,
  notFound,
  unauthorized,
} from '@hangar/api';
import { asError } from '@hangar/core';
import type { Authenticator } from './auth/authenticate.ts';
import type { Authorizer } from './auth/authorize.ts';
import { Guard } from './auth/guard.ts';
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
import { RequestMetrics } from './metrics/request-metrics.ts';
import { bytesAnswer, errorAnswer } from './objects/answers.ts';
import { statusOfStoreError } from './objects/store-errors.ts';
import { forPeople } from './objects/pretty.ts';
import { requestInfo } from './request/info.ts';
import type { RequestInfo, ResourceRequest } from './request/info.ts';
import { Query, splitTarget } from './request/query.ts';
import type { Resource } from './resources/resource.ts';
import { subresourceOf } from './resources/resource.ts';
import { subresourceHandler } from './subresources/index.ts';
import type { Call } from './verbs/call.ts';
import { verbHandler } from './verbs/index.ts';

export interface ApiServerOptions {
  readonly plane: ControlPlane;
  readonly authenticators: readonly Authenticator[];
  readonly authorizers: readonly Authorizer[];
  /** Of tokens; absent: that of a cluster's own API. */
  readonly audiences?: readonly string[];
  readonly health: HealthChecks;
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

/** What was found out about a request, for those who account for it. */
interface About {
  info: RequestInfo | undefined;
  resource: Resource | undefined;
  readonly warnings: string[];
}

const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #discovery: Discovery;
  readonly #openApi: OpenApi;
  readonly #metrics: RequestMetrics;
  readonly #guard: Guard;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#guard = new Guard(options);
    this.#discovery = new Discovery(options.plane.catalogue, options.address);
    this.#openApi = new OpenApi(options.plane.catalogue);
    this.#metrics = new RequestMetrics(options.plane.clock);
  }

  /** Never rejects. */
  async handle(request: ServerRequest): Promise<Answer> {
    const about: About = { info: undefined, resource: undefined, warnings: [] };
    const ended = this.#metrics.begin(request.method);
    const answer = await this.#answer(request, about);
    ended(about.info, about.resource, answer.status);
    return isStreaming(answer.body) && about.resource ? this.#countWatch(answer, answer.body, about.resource) : answer;
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

  async #handle(request: ServerRequest, about: About): Promise<Answer> {
    const { path, query } = splitTarget(request.target);
    const parameters = new Query(query);
    const info = requestInfo(request.method, path, query !== '' && (parameters.flag('watch') ?? false));
    about.info = info;
    const user = await this.#authenticate(request, path);
    await this.#authorize(user, info);
    if (!info.isResource) return this.#document(request, path, query);
    const { plane } = this.#options;
    const resource = plane.catalogue.find(info);
    if (!resource) throw unknownResource(info);
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

  async #authenticate(request: ServerRequest, path: string): Promise<User> {
    const user = await this.#guard.identify(request);
    if (user) return user;
    // Credentials that are not valid are refused even where none are needed.
    if (isPublic(path) && request.header('authorization') === undefined) return anonymous;
    throw unauthorized();
  }

  async #authorize(user: User, info: RequestInfo): Promise<void> {
    if (!info.isResource && isPublic(info.path)) return;
    if ((await this.#guard.decide(user, info)) !== 'allow') throw forbidden(user, info);
  }

  async #document(request: ServerRequest, path: string, query: string): Promise<Answer> {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new PageNotFound();
    if (path === '/version') return json(versionInfo);
    if (path === '/metrics') return bytesAnswer(200, metricsType, Buffer.from(this.#metrics.text()));
    if (healthPaths.test(path)) return healthAnswer(path, query, this.#options.health);
    const found = this.#discovery.answer(path, request) ?? (await this.#openApi.answer(path, query, request));
    if (found) return found;
    if (path === '/') return json({ paths: this.#paths() });
    throw unknownPath(path);
  }

  #paths(): string[] {
    const groups = this.#options.plane.catalogue.groups;
    const named = groups.filter(({ name }) => name !== '');
    const versions = named.flatMap(({ name, versions: all }) => [
      `/apis/${name}`,
      ...all.map((one) => `/apis/${name}/${one.name}`),
    ]);
    const others = ['/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/version'];
    return ['/api', '/api/v1', '/apis', ...versions.sort(), ...others];
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

function forbidden(user: User, info: RequestInfo): StatusError {
  if (!info.isResource) {
    const message = `forbidden: User "${user.name}" cannot ${info.verb} path "${info.path}"`;
    return new StatusError('Forbidden', message, { details: {} });
  }
  const { group, resource, subresource, namespace, name, verb } = info;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message = `User "${user.name}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
  return forbiddenRequest({ group, resource }, name, message);
}
