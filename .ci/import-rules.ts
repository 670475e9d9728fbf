/** Who may import whom. */
import { type Program, Visitor } from 'oxc-parser';
import type { Import, Source } from './sources.ts';

/**
 * A process imports itself, `proto/` and packages; `proto/` imports itself and packages; core's `domain/` is pure; only
 * `platform/log.ts` writes logs; only adapters import `platform/adapter/`; the gateway's rooms import what stands below
 * them. Tests, the bench and the checks import what they like, and nobody imports them. Returns one line for each
 * breach.
 */
export function breaches(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, program, imports }) => {
    const forbidden = imports.filter((found) => !isAllowed(path, found));
    const lines = forbidden.map(({ specifier }) => `${path} imports ${specifier}`);
    return isDomain(path) ? [...lines, ...impurities(program).map((what) => `${path} uses ${what}`)] : lines;
  });
}

function isAllowed(path: string, { specifier, target, types }: Import): boolean {
  const room = roomOf(path);
  if (room === undefined) return true;
  if (target === 'pino') return path === 'platform/log.ts';
  if (target === 'package.json') return !isDomain(path);
  if (isDomain(path)) return isPureImport(target, types);
  if (!specifier.startsWith('.')) return true;
  if (roomOf(target) === 'client' && !CLIENTS.has(room)) return false;
  if (target.startsWith('platform/adapter/') && CLIENTS_OF_ADAPTERS.has(room)) return false;
  if (room === 'gateway' && roomOf(target) === room) return isAllowedInGateway(path, target);
  return [room, ...(SHARED[room] ?? Object.keys(SHARED))].includes(roomOf(target) ?? 'outside');
}

/** The rooms that every process may import, and what each of them may import itself. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  platform: ['client/webhooks', 'proto'],
  'client/webhooks': [],
  client: ['client/webhooks'],
  proto: [],
};

/** Call the service as a merchant does; other processes use of the package only what verifies notifications. */
const CLIENTS: ReadonlySet<string> = new Set(['client', 'services/merchant', 'services/quickstart']);

/** Know adapters by the contract alone. */
const CLIENTS_OF_ADAPTERS: ReadonlySet<string> = new Set(['gateway', 'services/core', 'services/conformance']);

/** The process or shared room that a file belongs to; undefined for what is not part of the product. */
function roomOf(path: string): string | undefined {
  const [top = '', process] = path.split('/');
  if (top === 'services') return `services/${process}`;
  if (path.startsWith('client/webhooks/')) return 'client/webhooks';
  return top === 'gateway' || top in SHARED ? top : undefined;
}

/**
 * Which of the gateway's rooms may import which. Its top-level files put the rooms together and may import all of them.
 */
const GATEWAY_ROOMS: Readonly<Record<string, readonly string[]>> = {
  http: [],
  core: ['http'],
  limits: ['http'],
  resource: ['http', 'core'],
  'event-stream': ['http', 'core', 'limits', 'resource'],
  rest: ['http', 'core', 'limits', 'resource', 'event-stream'],
  operator: ['http', 'core', 'limits', 'resource', 'event-stream'],
  relay: ['http', 'core', 'limits', 'resource'],
  console: ['http'],
  openapi: ['http', 'resource', 'rest', 'operator', 'relay', '.'],
};

/** Whether one file of the gateway may import another. `.` stands for the top level. */
function isAllowedInGateway(path: string, target: string): boolean {
  const [room, other] = [gatewayRoomOf(path), gatewayRoomOf(target)];
  return room === '.' || room === other || (GATEWAY_ROOMS[room]?.includes(other) ?? false);
}

function gatewayRoomOf(path: string): string {
  const [, room = '', inside] = path.split('/');
  return inside === undefined ? '.' : room;
}

const DOMAIN = 'services/core/domain/';

function isDomain(path: string): boolean {
  return path.startsWith(DOMAIN);
}

/** Words that are the contract's; only the type may be named, so that no protobuf code is loaded. */
const VOCABULARIES: Readonly<Record<string, string>> = {
  'proto/gen/holdfast/v1/error_pb.js': 'ErrorReason',
  'proto/gen/holdfast/v1/operation_pb.js': 'OperationKind',
};

function isPureImport(target: string, types: readonly string[] | undefined): boolean {
  if (target.startsWith(DOMAIN) || target === 'node:assert/strict') return true;
  return types?.every((name) => name === VOCABULARIES[target]) ?? false;
}

/** Globals that read a clock, chance or the outside. */
const IMPURE = new Set(
  'process fetch performance crypto setTimeout setInterval setImmediate queueMicrotask globalThis console'.split(' '),
);

/** What a pure function may not do: look at the clock, roll dice, wait, or reach outside. */
function impurities(program: Program): string[] {
  const found: string[] = [];
  new Visitor({
    Identifier({ name }) {
      if (IMPURE.has(name)) found.push(name);
    },
    NewExpression({ callee, arguments: given }) {
      if (callee.type === 'Identifier' && callee.name === 'Date' && given.length === 0) found.push('new Date()');
    },
    MemberExpression({ object, property }) {
      if (object.type !== 'Identifier' || property.type !== 'Identifier') return;
      const name = `${object.name}.${property.name}`;
      if (name === 'Date.now' || name === 'Math.random') found.push(name);
    },
  }).visit(program);
  return found;
}
