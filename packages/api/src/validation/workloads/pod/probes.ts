/** Probes and lifecycle hooks of containers. */

import { child, forbidden, invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { httpHeaderNameReasons, portNameReasons, portNumberReasons } from '../../formats.ts';
import { checkNotNegative, checkOneOf, checkReasons, isEmpty, isSet } from '../base/checks.ts';
import type { IntOrString } from '../base/int-or-percent.ts';
import type { Container, Handler, Lifecycle, PodSpec, Probe } from '../types/pod.ts';

/** Parts of the pod that probes and hooks depend on. */
export type PodTimes = Pick<PodSpec, 'terminationGracePeriodSeconds' | 'os'>;

export function checkProbes(errors: FieldError[], path: string, container: Container, pod: PodTimes): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (livenessProbe) checkProbe(errors, child(path, 'livenessProbe'), livenessProbe, pod, 'once');
  if (readinessProbe) {
    const at = child(path, 'readinessProbe');
    checkProbe(errors, at, readinessProbe, pod, 'often');
    if (isSet(readinessProbe.terminationGracePeriodSeconds)) {
      const seconds = readinessProbe.terminationGracePeriodSeconds;
      errors.push(invalid(child(at, 'terminationGracePeriodSeconds'), seconds, 'must not be set for readinessProbes'));
    }
  }
  if (startupProbe) checkProbe(errors, child(path, 'startupProbe'), startupProbe, pod, 'once');
}

const counts = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

/** A liveness or startup probe must succeed `once`. */
function checkProbe(errors: FieldError[], path: string, probe: Probe, pod: PodTimes, success: 'once' | 'often'): void {
  checkHandler(errors, path, probe, pod);
  for (const name of counts) checkNotNegative(errors, child(path, name), probe[name]);
  const { terminationGracePeriodSeconds: grace, successThreshold = 0 } = probe;
  if (isSet(grace) && grace <= 0) {
    errors.push(invalid(child(path, 'terminationGracePeriodSeconds'), grace, 'must be greater than 0'));
  }
  if (success === 'once' && successThreshold !== 1) {
    errors.push(invalid(child(path, 'successThreshold'), successThreshold, 'must be 1'));
  }
}

type HandlerCheck = (errors: FieldError[], path: string, handler: Handler, pod: PodTimes) => void;

const handlers: readonly (readonly [name: keyof Handler, check: HandlerCheck])[] = [
  [
    'exec',
    (errors, path, { exec }) => {
      if (isEmpty(exec!.command)) errors.push(required(child(path, 'command'), ''));
    },
  ],
  ['httpGet', (errors, path, { httpGet }) => checkHttpGet(errors, path, httpGet!)],
  ['tcpSocket', (errors, path, { tcpSocket }) => checkPort(errors, child(path, 'port'), tcpSocket!.port ?? 0)],
  ['grpc', (errors, path, { grpc }) => checkPort(errors, child(path, 'port'), grpc!.port ?? 0)],
  ['sleep', (errors, path, { sleep }, pod) => checkSleep(errors, path, sleep!.seconds ?? 0, pod)],
];

function checkHandler(errors: FieldError[], path: string, handler: Handler, pod: PodTimes): void {
  let isFirst = true;
  for (const [name, check] of handlers) {
    if (!handler[name]) continue;
    if (isFirst) check(errors, child(path, name), handler, pod);
    else errors.push(forbidden(child(path, name), 'may not specify more than 1 handler type'));
    isFirst = false;
  }
  if (isFirst) errors.push(required(path, 'must specify a handler type'));
}

function checkHttpGet(errors: FieldError[], path: string, get: NonNullable<Handler['httpGet']>): void {
  if (!get.path) errors.push(required(child(path, 'path'), ''));
  checkPort(errors, child(path, 'port'), get.port ?? 0);
  checkOneOf(errors, child(path, 'scheme'), get.scheme ?? '', ['HTTP', 'HTTPS']);
  for (const { name = '' } of get.httpHeaders ?? []) {
    checkReasons(errors, child(path, 'httpHeaders'), name, httpHeaderNameReasons(name));
  }
}

export const checkPort = (errors: FieldError[], path: string, port: IntOrString): void =>
  checkReasons(errors, path, port, typeof port === 'number' ? portNumberReasons(port) : portNameReasons(port));

function checkSleep(
  errors: FieldError[],
  path: string,
  seconds: number,
  { terminationGracePeriodSeconds: grace }: PodTimes,
): void {
  if (!isSet(grace) || (seconds >= 0 && seconds <= grace)) return;
  const reason = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  errors.push(invalid(path, seconds, reason));
}

export function checkLifecycle(errors: FieldError[], path: string, lifecycle: Lifecycle, pod: PodTimes): void {
  for (const name of ['postStart', 'preStop'] as const) {
    const handler = lifecycle[name];
    if (handler) checkHandler(errors, child(path, name), handler, pod);
  }
  if (isSet(lifecycle.stopSignal)) checkStopSignal(errors, child(path, 'stopSignal'), lifecycle.stopSignal, pod);
}

const numbered = (prefix: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `${prefix}${from + i}`);

const linuxSignals = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT'.split(' '),
  'RTMAX',
  ...numbered('RTMAX-', 1, 14),
  'RTMIN',
  ...numbered('RTMIN+', 1, 15),
  ...'SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ'.split(' '),
]
  .map((name) => `SIG${name}`)
  .sort();

function checkStopSignal(errors: FieldError[], path: string, signal: string, { os }: PodTimes): void {
  if (!os) {
    errors.push(forbidden(path, 'may not be set for containers with empty `spec.os.name`'));
    return;
  }
  const supported = os.name === 'windows' ? ['SIGKILL', 'SIGTERM'] : os.name === 'linux' ? linuxSignals : [signal];
  if (!supported.includes(signal)) errors.push(notSupported(path, signal, supported));
}
