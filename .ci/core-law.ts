/** Which room of core may import which, and what may stand in it. */
import { Visitor } from 'oxc-parser';
import type { Source } from './sources.ts';

/**
 * The rooms of core, from the bottom up: what is in each, and what it imports besides itself, rooms above it in this table and files of
 * core's root. Files of the root import every room.
 */
export const ROOMS: Readonly<Record<string, { readonly holds: string; readonly imports: string }>> = {
  domain: {
    holds: 'the rules of holds, as pure functions: no clock, I/O, ORM or protobuf',
    imports: '',
  },
  scheduling: {
    holds: 'periodic jobs and work loops',
    imports: 'clock.ts',
  },
  storage: {
    holds: 'entities, migrations, statements, by subject',
    imports: 'domain actor.ts cipher.ts',
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
    imports: 'domain storage processor books cipher.ts clock.ts crash-points.ts',
  },
  recovery: {
    holds: 'finds expired holds and unknown outcomes, and inquires about them',
    imports: 'domain scheduling storage processor books kinds',
  },
  delivery: {
    holds: 'attempts to deliver notifications, and their rules',
    imports: 'domain storage cipher.ts clock.ts',
  },
  feeds: {
    holds: 'streams of results and credentials',
    imports: 'storage cipher.ts',
  },
  reports: {
    holds: 'what operators count',
    imports: 'domain storage',
  },
  reconciliation: {
    holds: "compares the books with the processor's ledger, with a connection of its own",
    imports: 'domain storage processor books kinds actor.ts environment.ts cipher.ts',
  },
  metrics: {
    holds: 'the metrics, and the server for them',
    imports: 'domain storage processor books reports cipher.ts clock.ts',
  },
  rpc: {
    holds: 'the methods of the contract, by subject; `rpc/server/` handles a call before its method',
    imports:
      'domain storage processor books kinds delivery feeds reports reconciliation metrics actor.ts cipher.ts clock.ts crash-points.ts health.ts settings.ts',
  },
};

/** Packages that only one room imports. */
const ONLY_IN: readonly (readonly [package_: RegExp, room: string])[] = [
  [/^@mikro-orm\//, 'storage'],
  [/^undici$/, 'delivery'],
];

/** Rooms that contain SQL. */
const SQL_ROOMS = new Set(['storage', 'reports', 'reconciliation']);

/** Returns one line for each breach. */
export function coreBreaches(sources: readonly Source[]): string[] {
  const core = sources.filter(({ path }) => path.startsWith(CORE));
  return core.flatMap((source) => [...importBreaches(source), ...sqlBreaches(source)]);
}

const CORE = 'services/core/';

/** The room that a file of core stands in; a file of the root is a room of its own. */
function roomOf(path: string): string {
  return path.slice(CORE.length).split('/')[0] ?? '';
}

function importBreaches({ path, imports }: Source): string[] {
  const room = roomOf(path);
  const allowed = ROOMS[room]?.imports.split(' ');
  if (!allowed && !room.endsWith('.ts')) return [`${path} stands in a room that the law of core does not name`];
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
  /^\s*(select\s[\s\S]*\bfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+(recursive\s+)?\w+\s+as\s)/i;

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
