/** The URL of an endpoint. */

import type { ControlPlaneEndpoint } from './api/index.ts';

export const endpointUrl = ({ host, port }: ControlPlaneEndpoint): string =>
  `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
