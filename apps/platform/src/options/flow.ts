/** Flags that limit concurrent requests; further requests are queued. Names and defaults are those of kube-apiserver. */

import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';

export interface FlowOptions {
  readonly readOnlyMax: number;
  readonly mutatingMax: number;
}

export const flowFlags = {
  'max-requests-inflight': { type: 'string', default: '400' },
  'max-mutating-requests-inflight': { type: 'string', default: '200' },
} as const;

export const flowHelp: HelpGroup = {
  title: 'Flow control',
  rows: [
    [
      '--max-requests-inflight N',
      'maximum number of non-mutating requests in flight, for all control planes; one control plane can use up to half (default: 400)',
    ],
    [
      '--max-mutating-requests-inflight N',
      'maximum number of mutating requests in flight, in the same way (default: 200)',
    ],
  ],
};

type Values = { readonly [Name in keyof typeof flowFlags]: string };

export const flowOptions = (values: Values): FlowOptions => ({
  readOnlyMax: count(values, 'max-requests-inflight'),
  mutatingMax: count(values, 'max-mutating-requests-inflight'),
});

function count(values: Values, name: keyof Values): number {
  if (!/^[1-9]\d{0,6}$/.test(values[name]))
    throw new UsageError(`--${name}: "${values[name]}" must be a number greater than 0`);
  return Number(values[name]);
}
