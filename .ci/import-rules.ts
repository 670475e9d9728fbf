/** Which room of the tree may import which, and what may stand in it. */
import { dirname } from 'node:path/posix';
import { type Program, Visitor } from 'oxc-parser';
import type { Import, Source } from './sources.ts';

/**
 * The rooms of core, from the bottom up: what is in each, and which rooms above it in this table it imports. The root
 * has only the files with which a process or a command starts; they import every room.
 */
export const CORE_ROOMS: Readonly<Record<string, readonly [holds: string, imports: string]>> = {
  domain: ['the rules of holds, as pure functions: no clock, I/O, ORM or protobuf', ''],
  storage: ['entities, migrations, statements, by subject', 'domain'],
  processor: ['calls to the card processors', 'domain'],
  books: ['writes of money: one statement each, including the operation and the delivery', 'domain storage'],
  kinds: [
    'the life of an operation (`kinds/perform.ts`): stored, sent by kind, settled by its outcome',
    'domain storage processor books',
  ],
  recovery: [
    'finds expired holds and unknown outcomes, and inquires about them',
    'domain storage processor books kinds',
  ],
  egress: ['HTTP to the addresses that merchants name: where it may go, and how much it may be answered', 'storage'],
  delivery: ['attempts to deliver notifications, and their rules', 'domain storage egress'],
  settings: ['what core, the worker and the command lines read of the environment', 'storage processor egress'],
  health: ['whether this process serves: its database, its clock, its processors', 'storage processor'],
  reports: ['what operators count', 'domain storage'],
  reconciliation: [
    "compares the books with the processor's ledger, with a connection of its own",
    'domain storage processor books kinds',
  ],
  metrics: ['the metrics, and the server for them', 'domain storage processor books reports'],
  rpc: [
    'the methods of the contract, by subject; `rpc/server/` handles a call before its method',
    'domain storage processor books kinds egress delivery reports reconciliation metrics health settings',
  ],
  start: [
    'assembles the rooms into a core and a worker',
    'domain storage processor books kinds recovery egress delivery settings health reports ' +
      'reconciliation metrics rpc',
  ],
};

/** The rooms of the gateway, from the bottom up, and which of them each imports. */
const GATEWAY_ROOMS: Readonly<Record<string, string>> = {
  http: '',
  core: 'http',
  limits: 'http',
  resource: 'http core',
  'event-stream': 'http core limits resource',
  rest: 'http core limits resource event-stream',
  operator: 'http core limits resource event-stream',
  relay: 'http core limits resource',
  console: 'http',
  openapi: 'http resource rest operator relay .',
};

/** What every process may import besides packages and itself. */
const SHARED = ['platform', 'proto', 'client/webhooks'];

/**
 * Every room of the product, by its folder, after the one that it lies in, and which others it imports. Only processes
 * that stand for a merchant import its package, all others of it what signs and verifies notifications; only adapters
 * import `platform/adapter`. Tests, the bench and the checks import what they like, and no room imports them.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  proto: [],
  client: ['client/webhooks'],
  'client/webhooks': [],
  platform: ['proto', 'client/webhooks'],
  'platform/adapter': SHARED,
  'services/sandbox': [...SHARED, 'platform/adapter'],
  'services/stripe': [...SHARED, 'platform/adapter'],
  'services/adyen': [...SHARED, 'platform/adapter'],
  'services/conformance': SHARED,
  'services/merchant': [...SHARED, 'client'],
  'services/quickstart': [...SHARED, 'client'],
  ...roomsIn('gateway', Object.entries(GATEWAY_ROOMS)),
  ...roomsIn(
    'services/core',
    Object.entries(CORE_ROOMS).map(([room, [, imports]]) => [room, imports]),
  ),
  'services/core/domain': [],
};

/** The rooms of a process, and its top level, which imports all of them. */
function roomsIn(process: string, rooms: readonly (readonly [room: string, imports: string])[]) {
  const below = (names: readonly string[]) => names.map((name) => (name === '.' ? process : `${process}/${name}`));
  return Object.fromEntries([
    [process, [...SHARED, ...below(rooms.map(([room]) => room))]],
    ...rooms.map(([room, imports]) => [`${process}/${room}`, [...SHARED, ...below(imports.split(' '))]]),
  ]);
}

/** What only one place imports: packages, and the key to the ORM. */
const ONLY_IN: readonly (readonly [target: RegExp, place: string])[] = [
  [/^pino$/, 'platform/log.ts'],
  [/^@mikro-orm\/|^services\/core\/storage\/orm\.ts$/, 'services/core/storage/'],
  [/^undici$/, 'services/core/egress/'],
];

const DOMAIN = 'services/core/domain';
/** Words that are the contract's: the domain imports their types, so that no protobuf code is loaded. */
const VOCABULARIES = ['proto/gen/holdfast/v1/error_pb.js', 'proto/gen/holdfast/v1/operation_pb.js'];
const SQL_ROOMS = ['storage', 'reports', 'reconciliation'].map((room) => `services/core/${room}`);

/** Returns one line for each breach. */
export function breaches(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, program, imports }) => {
    const room = roomOf(path);
    if (room === undefined) return /^(services|gateway)\//.test(path) ? [`${path} is in no room`] : [];
    const forbidden = imports.filter((found) => !isAllowed(path, room, found));
    const lines = forbidden.map(({ specifier }) => `${path} imports ${specifier}`);
    if (room === DOMAIN) lines.push(...impurities(program).map((what) => `${path} uses ${what}`));
    if (room.startsWith('services/core') && !SQL_ROOMS.includes(room))
      lines.push(...statements(program).map((text) => `${path} has SQL: ${text.trim().slice(0, 40)}`));
    return lines;
  });
}

/** The room that a file stands in; undefined for what is not part of the product. */
function roomOf(path: string): string | undefined {
  const room = Object.keys(ROOMS).findLast((name) => path.startsWith(`${name}/`));
  const isTopLevel = room === 'gateway' || room === 'services/core';
  return isTopLevel && dirname(path) !== room ? undefined : room;
}

function isAllowed(path: string, room: string, { specifier, target, isType }: Import): boolean {
  const only = ONLY_IN.find(([what]) => what.test(target));
  if (only) return path.startsWith(only[1]);
  if (room === DOMAIN && target === 'node:assert/strict') return true;
  if (room === DOMAIN && VOCABULARIES.includes(target)) return isType;
  if (room !== DOMAIN && (!specifier.startsWith('.') || target === 'package.json')) return true;
  return [room, ...(ROOMS[room] ?? [])].includes(roomOf(target) ?? 'outside');
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

/** A text that begins like a statement about tables. */
const STATEMENT =
  /^\s*(select\s.*\bfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+(recursive\s+)?\w+\s+as\s)/is;

function statements(program: Program): string[] {
  const texts: string[] = [];
  new Visitor({
    Literal({ value }) {
      if (typeof value === 'string') texts.push(value);
    },
    TemplateLiteral({ quasis }) {
      texts.push(quasis.map(({ value }) => value.raw).join('?'));
    },
  }).visit(program);
  return texts.filter((text) => STATEMENT.test(text));
}
