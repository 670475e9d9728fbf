/** Which room of core may import which, and what may stand in it. */
import { Visitor } from 'oxc-parser';
import type { Source } from './sources.ts';

/**
 * The rooms of core, from the bottom up: what is in each, and which rooms above it in this table it imports. The root
 * has only the files with which a process or a command starts; they import every room.
 */
export const ROOMS: Readonly<Record<string, { readonly holds: string; readonly imports: string }>> = {
  domain: {
    holds: 'the rules of holds, as pure functions: no clock, I/O, ORM or protobuf',
    imports: '',
  },
  scheduling: {
    holds: 'periodic jobs and work loops',
    imports: '',
  },
  storage: {
    holds: 'entities, migrations, statements, by subject',
    imports: 'domain',
  },
  processor: {
    holds: 'calls to the card processors',
    imports: 'domain',
  },
  books: {
    holds: 'writes of money: one statement each, including the operation and the delivery',
    imports: 'domain storage',
  },
  kinds: {
    holds: 'what is sent to the processor, by kind: the call, and the effect of its answer',
    imports: 'domain storage processor books',
  },
  recovery: {
    holds: 'finds expired holds and unknown outcomes, and inquires about them',
    imports: 'domain scheduling storage processor books kinds',
  },
  egress: {
    holds: 'HTTP to the addresses that merchants name: where it may go, and how much it may be answered',
    imports: 'storage',
  },
  delivery: {
    holds: 'attempts to deliver notifications, and their rules',
    imports: 'domain storage egress',
  },
  settings: {
    holds: 'what core, the worker and the command lines read of the environment',
    imports: 'storage processor egress',
  },
  health: {
    holds: 'whether this process serves: its database, its clock, its processors',
    imports: 'storage processor',
  },
  reports: {
    holds: 'what operators count',
    imports: 'domain storage',
  },
  reconciliation: {
    holds: "compares the books with the processor's ledger, with a connection of its own",
    imports: 'domain storage processor books kinds',
  },
  metrics: {
    holds: 'the metrics, and the server for them',
    imports: 'domain storage processor books reports',
  },
  rpc: {
    holds: 'the methods of the contract, by subject; `rpc/server/` handles a call before its method',
    imports: 'domain storage processor books kinds egress delivery reports reconciliation metrics health settings',
  },
  start: {
    holds: 'assembles the rooms into a core and a worker',
    imports:
      'domain scheduling storage processor books kinds recovery egress delivery settings health reports ' +
      'reconciliation metrics rpc',
  },
};

/** The files of core's root: each is started by itself. */
const ENTRY_POINTS = new Set(['index.ts', 'worker.ts', 'migrate.ts', 'audit.ts', 'reconcile.ts', 'restored.ts']);

/** Packages that only one room imports. */
const ONLY_IN: readonly (readonly [package_: RegExp, room: string])[] = [
  [/^@mikro-orm\//, 'storage'],
  [/^undici$/, 'egress'],
];

/** Rooms that contain SQL. */
const SQL_ROOMS = new Set(['storage', 'reports', 'reconciliation']);

/** Returns one line for each breach. */
export function coreBreaches(sources: readonly Source[]): string[] {
  const core = sources.filter(({ path }) => path.startsWith(CORE));
  return core.flatMap((source) => [...importBreaches(source), ...sqlBreaches(source)]);
}

const CORE = 'services/core/';

/** The room that a file of core stands in; for a file of the root its own name. */
function roomOf(path: string): string {
  return path.slice(CORE.length).split('/')[0] ?? '';
}

function importBreaches({ path, imports }: Source): string[] {
  const room = roomOf(path);
  const allowed = ROOMS[room]?.imports.split(' ');
  if (!allowed && !ENTRY_POINTS.has(room))
    return [`${path} is neither in a room that the table of rooms names nor an entry point`];
  return imports.flatMap(({ specifier, target, names }) => {
    const only = ONLY_IN.find(([name]) => name.test(target));
    if (only) return only[1] === room ? [] : [`${path} imports ${specifier}`];
    if (!target.startsWith(CORE)) return [];
    const there = roomOf(target);
    if (there === room) return [];
    if (allowed && !allowed.includes(there)) return [`${path} imports ${specifier}`];
    const isOrm = target === `${CORE}storage/orm.ts` || names.some((name) => name.endsWith('Entity'));
    return there === 'storage' && isOrm ? [`${path} imports the ORM's ${specifier}`] : [];
  });
}

/** A text that begins like a statement about tables. */
const STATEMENT =
  /^\s*(select\s.*\bfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+(recursive\s+)?\w+\s+as\s)/is;

function sqlBreaches({ path, program }: Source): string[] {
  if (SQL_ROOMS.has(roomOf(path))) return [];
  const texts: string[] = [];
  new Visitor({
    Literal({ value }) {
      if (typeof value === 'string') texts.push(value);
    },
    TemplateLiteral({ quasis }) {
      texts.push(quasis.map(({ value }) => value.raw).join('?'));
    },
  }).visit(program);
  return texts.filter((text) => STATEMENT.test(text)).map((text) => `${path} has SQL: ${text.trim().slice(0, 40)}`);
}
