/** What a verified notification of another sender is called, whether it is forwarded, and with which headers. */
import { hash } from 'node:crypto';
import type { RelaySenderSettings } from '../../proto/gen/holdfast/v1/relay_pb.js';
import type { LiveSender } from '../core/credentials.ts';
import { parseStrictJson } from '../http/strict-json.ts';
import { JSON_BOUNDS } from './notification.ts';
import { IDENTIFIER, type Received, textOf } from './verify-sender.ts';

type Settings = Pick<RelaySenderSettings, 'idHeader' | 'idPointer' | 'typeHeader' | 'internalTypes'>;

/** The parts of a notification that core stores with its bytes. */
export interface Described {
  readonly identifier: string;
  readonly forward: boolean;
  readonly headers: { readonly name: string; readonly value: string }[];
}

/** Describes a verified notification. `signedIdentifier` is the one that its scheme signs, if any. */
export function describeRelayed(sender: LiveSender, received: Received, signedIdentifier?: string): Described {
  const { senderId, settings } = sender.credentials;
  const { idHeader = '', idPointer = '', typeHeader = '', internalTypes = [] }: Partial<Settings> = settings ?? {};
  const { headers, body } = received;
  const json = idPointer !== '' || (internalTypes.length > 0 && typeHeader === '') ? parsed(body) : undefined;
  const named = signedIdentifier ?? textOf(headers, idHeader) ?? (idPointer && json?.textAt(idPointer));
  const identifier = identifierOf(named || undefined, body);
  const type = typeHeader === '' ? json?.textAt('/type') : textOf(headers, typeHeader);
  return {
    identifier,
    forward: internalTypes.length === 0 || internalTypes.some((wanted) => matches(wanted, type)),
    headers: [
      { name: 'content-type', value: shown(textOf(headers, 'content-type')) ?? 'application/octet-stream' },
      { name: 'x-relay-sender', value: senderId },
      { name: 'x-relay-id', value: identifier },
      ...[...new Set([idHeader, typeHeader])].flatMap((name) => {
        const value = shown(textOf(headers, name));
        return value === undefined ? [] : [{ name, value }];
      }),
    ],
  };
}

/** One that is not of the form of an identifier is called by its hash; so is a body that has none. */
function identifierOf(named: string | undefined, body: Buffer): string {
  if (named !== undefined && IDENTIFIER.test(named)) return named;
  return `sha256:${hash('sha256', named ?? body)}`;
}

/** `payment.*` stands for all types that begin with `payment.`; `*` for all. */
function matches(wanted: string, type: string | undefined): boolean {
  if (type === undefined) return false;
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/** A header's value as it may be sent on. */
function shown(value: string | undefined): string | undefined {
  return value !== undefined && /^[ -~]{1,512}$/.test(value) ? value : undefined;
}

/** A body that is an object which all parsers read alike; undefined for any other. */
function parsed(body: Buffer) {
  const numbers = new Map<string, string>();
  try {
    const json = parseStrictJson(body, JSON_BOUNDS, (source, _, path) => numbers.set(pointerTo(path()), source));
    return {
      /** The text or the number, as it is written, at a JSON pointer (RFC 6901). */
      textAt(pointer: string): string | undefined {
        const value = valueAt(json, pointer);
        return typeof value === 'string' ? value : numbers.get(pointer);
      },
    };
  } catch {
    return undefined;
  }
}

function pointerTo(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function valueAt(json: unknown, pointer: string): unknown {
  let value = json;
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
