/** Handlers that rewrite a request: as another user, or below a path. */

import type { InProcessHandler } from '@hangar/client';
import type { TestUser } from './users.ts';

type Request = Parameters<InProcessHandler>[0];

/** Prefixes all targets with `path`. */
export const below =
  (path: string, handler: InProcessHandler): InProcessHandler =>
  (request) =>
    handler(changed(request, { target: `${path}${request.target}` }));

/** Uses impersonation, which the original user must be allowed to use. */
export function actingAs({ name, groups = [] }: TestUser, handler: InProcessHandler): InProcessHandler {
  const added: Readonly<Record<string, readonly string[]>> = {
    'impersonate-user': [name],
    ...(groups.length > 0 ? { 'impersonate-group': groups } : {}),
  };
  return (request) =>
    handler(
      changed(request, {
        header: (header) => added[header]?.join(', ') ?? request.header(header),
        headerValues: (header) => added[header] ?? request.headerValues(header),
        headerNames: () => [...request.headerNames(), ...Object.keys(added)],
      }),
    );
}

const changed = (request: Request, changes: Partial<Request>): Request => ({
  method: request.method,
  target: request.target,
  peer: request.peer,
  header: (name) => request.header(name),
  headerValues: (name) => request.headerValues(name),
  headerNames: () => request.headerNames(),
  body: (bytesMax) => request.body(bytesMax),
  ...changes,
});
