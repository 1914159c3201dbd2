/** How many requests are under way at once; beyond, they wait for their turn. As kube-apiserver names and sets them. */

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
      'how many requests that only read are under way at once, for all control planes together; one of them alone gets half (default: 400)',
    ],
    ['--max-mutating-requests-inflight N', 'the same for requests that change something (default: 200)'],
  ],
};

type Values = { readonly [Name in keyof typeof flowFlags]: string };

export const flowOptions = (values: Values): FlowOptions => ({
  readOnlyMax: count(values, 'max-requests-inflight'),
  mutatingMax: count(values, 'max-mutating-requests-inflight'),
});

function count(values: Values, name: keyof Values): number {
  if (!/^[1-9]\d{0,6}$/.test(values[name])) throw new UsageError(`--${name}: "${values[name]}" is not a number from 1`);
  return Number(values[name]);
}
