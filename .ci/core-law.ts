/** Which room of core may import which, and what may stand in it. */
import { Visitor } from 'oxc-parser';
import type { Source } from './sources.ts';

/**
 * The rooms of core, from the bottom up. A room imports itself and what stands beside it here: rooms above it in this table, and
 * files of core's root. Files of the root import every room.
 */
const ROOMS: Readonly<Record<string, string>> = {
  domain: '',
  scheduling: 'clock.ts',
  storage: 'domain actor.ts cipher.ts',
  processor: 'domain',
  books: 'domain storage',
  kinds: 'domain storage processor books cipher.ts clock.ts crash-points.ts',
  recovery: 'domain scheduling storage processor books kinds',
  delivery: 'domain storage cipher.ts clock.ts',
  feeds: 'storage cipher.ts',
  reports: 'domain storage',
  reconciliation: 'domain storage processor books kinds actor.ts environment.ts cipher.ts',
  metrics: 'storage processor books reports cipher.ts clock.ts',
  rpc:
    'domain storage processor books kinds delivery feeds reports reconciliation metrics ' +
    'actor.ts cipher.ts clock.ts crash-points.ts health.ts settings.ts',
};

/** Packages that only one room imports. */
const ONLY_IN: readonly (readonly [package_: RegExp, room: string])[] = [
  [/^@mikro-orm\//, 'storage'],
  [/^pg-boss$/, 'delivery'],
  [/^undici$/, 'delivery'],
];

/** Rooms that contain SQL. */
const SQL_ROOMS = new Set(['storage', 'reports', 'reconciliation']);

/** Returns one line for each breach. */
export function coreBreaches(sources: readonly Source[]): string[] {
  const core = sources.filter(({ path }) => path.startsWith(CORE));
  return core.flatMap((source) => [...importBreaches(source), ...sqlBreaches(source), ...methodBreaches(source)]);
}

const CORE = 'services/core/';

/** The room that a file of core stands in; a file of the root is a room of its own. */
function roomOf(path: string): string {
  return path.slice(CORE.length).split('/')[0] ?? '';
}

function importBreaches({ path, imports }: Source): string[] {
  const room = roomOf(path);
  const allowed = ROOMS[room]?.split(' ');
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

/** A method of the contract has a file of its own in a folder of `rpc/`, named after it. */
function methodBreaches({ path, text }: Source): string[] {
  const methods = [...text.matchAll(/\bMethod(?:<'|Impl<\s*typeof \w+\.method\.)(\w+)/g)].map(([, name = '']) => name);
  const file = (name: string) => `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`;
  const inFolder = path.split('/').length === 5 && path.startsWith(`${CORE}rpc/`);
  return methods
    .filter((name) => !inFolder || !path.endsWith(`/${file(name)}`))
    .map((name) => `${path} has the method ${name}: it belongs to rpc/<subject>/${file(name)}`);
}
