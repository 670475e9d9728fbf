/** Who may import whom. */
import { type Program, Visitor } from 'oxc-parser';
import type { Import, Source } from './sources.ts';

/**
 * A process imports itself, `proto/` and packages; `proto/` imports itself and packages; core's `domain/` is pure; only
 * `proto/log.ts` writes logs. Tests, the
 * bench and the checks import what they like, and nobody imports them. Answers one line for each breach.
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
  if (target === 'pino') return path === 'proto/log.ts';
  if (isDomain(path)) return isPureImport(target, types);
  if (!specifier.startsWith('.')) return true;
  return [room, 'proto'].includes(roomOf(target) ?? 'outside');
}

/** The process that a file belongs to, or `proto`; undefined for what is not part of the product. */
function roomOf(path: string): string | undefined {
  const [top = '', process] = path.split('/');
  if (top === 'services') return `services/${process}`;
  return top === 'gateway' || top === 'proto' ? top : undefined;
}

const DOMAIN = 'services/core/domain/';

function isDomain(path: string): boolean {
  return path.startsWith(DOMAIN);
}

/** The vocabulary of refusals is the contract's; only its type may be named, so that no protobuf code is loaded. */
function isPureImport(target: string, types: readonly string[] | undefined): boolean {
  if (target.startsWith(DOMAIN) || target === 'node:assert/strict') return true;
  const names = types ?? ['a value'];
  return target === 'proto/gen/holdfast/v1/error_pb.js' && names.every((name) => name === 'ErrorReason');
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
