/** Tables of the documents that repeat the code. */

import { Code } from '@connectrpc/connect';
import { z } from 'zod';
import { OPENING_AT_ONCE, OPENINGS } from '../gateway/event-stream/stream-limit.ts';
import { JSON_BOUNDS } from '../gateway/http/json-body.ts';
import { PROBLEM_CODES, type ProblemCode, REFUSALS, statusOf } from '../gateway/http/refusals.ts';
import { REPEATS } from '../gateway/http/repeats.ts';
import { effectOf } from '../gateway/http/route.ts';
import { ROUTES } from '../gateway/openapi/document.ts';
import { GUESSES } from '../gateway/operator/session/verify-token.ts';
import { JSON_BOUNDS as RELAYED_JSON_BOUNDS } from '../gateway/relay/notification.ts';
import { WRITES_PER_HOLD } from '../gateway/rest/limit-in-flight.ts';
import { GATEWAY_SETTINGS } from '../gateway/settings.ts';
import { ErrorReason } from '../proto/gen/holdfast/v1/error_pb.js';
import { ADYEN_SETTINGS } from '../services/adyen/settings.ts';
import { MAX_PER_HOLD, STORE } from '../services/core/books/books.ts';
import { DEFAULT_ENDPOINT_SLOTS } from '../services/core/delivery/deliverer.ts';
import { SLOW_SLOTS } from '../services/core/delivery/endpoint-slots.ts';
import { KIND_NAMES, OPERATION_KINDS, SENT_KINDS, type StatusInfo } from '../services/core/domain/kinds.ts';
import { OPERATIONAL_TYPES } from '../services/core/domain/notification-types.ts';
import { HoldfastError, type RefusalCode } from '../services/core/domain/refusal.ts';
import { SLOTS } from '../services/core/recovery/work-loop.ts';
import { WAIT_MS } from '../services/core/rpc/server/read-turns.ts';
import { translateError } from '../services/core/rpc/server/translate-error.ts';
import { CORE_SETTINGS } from '../services/core/settings/core-settings.ts';
import { WORKER_SETTINGS } from '../services/core/settings/worker-settings.ts';
import { PER_MINUTE } from '../services/core/storage/merchant/quota.ts';
import { READ_LIMITS } from '../services/core/storage/open-pool.ts';
import { MERCHANT_SETTINGS } from '../services/merchant/settings.ts';
import { QUICKSTART_SETTINGS } from '../services/quickstart/settings.ts';
import { BEHAVIOURS } from '../services/sandbox/behaviour.ts';
import { aboutCard, groupInFours, TEST_CARDS } from '../services/sandbox/checkout/test-card.ts';
import { SANDBOX_SETTINGS } from '../services/sandbox/settings.ts';
import { STRIPE_SETTINGS } from '../services/stripe/settings.ts';
import type { Generated, Table } from './generated.ts';
import { CORE_ROOMS } from './import-rules.ts';

export const TABLES: readonly Generated[] = [
  tableIn('docs/architecture.md', 'rooms', roomsTable),
  tableIn('docs/interfaces.md', 'refusals', refusalsTable),
  tableIn('docs/interfaces.md', 'promises', promisesTable),
  tableIn('docs/limits.md', 'limits', limitsTable),
  tableIn('docs/sandbox.md', 'tokens', tokensTable),
  tableIn('docs/sandbox.md', 'cards', cardsTable),
  tableIn('docs/settings.md', 'settings', settingsTable),
  tableIn('docs/verify-webhooks.md', 'notifications', notificationsTable),
];

/** A table by the document and the name in its mark, `<!-- generated: NAME -->`. A blank line ends it. */
function tableIn(file: string, name: string, make: () => Table): Generated {
  return [file, (is) => replaced(is, file, name, make())];
}

function replaced(text: string, file: string, name: string, [header = [], ...rows]: Table): string {
  const [start, rest, ...more] = text.split(`<!-- generated: ${name} -->\n`);
  if (rest === undefined || more.length > 0) throw new Error(`${file} has no mark, or several, of the table ${name}`);
  const lines = [header, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  lines.splice(1, 0, `|${'---|'.repeat(header.length)}`);
  const end = rest.search(/^(?!\|)(?!\n\|)/m);
  return `${start}<!-- generated: ${name} -->\n\n${lines.join('\n')}\n${rest.slice(end)}`;
}

/** The types of notifications, with their status and the operations that they are about. */
function notificationsTable(): Table {
  const rows = new Map<string, string[]>();
  const add = (notification: string, word: StatusInfo, status: 'OK' | 'KO', kind: string) => {
    const key = `\`${notification}.${word}\` | ${status}`;
    rows.set(key, [...(rows.get(key) ?? []), kind]);
  };
  for (const kind of KIND_NAMES) {
    const facts = OPERATION_KINDS[kind];
    const { notification, successWord, successStatus } = facts;
    const failures = 'failureWord' in facts ? [facts.failureWord] : (['declined', 'failed'] as const);
    for (const each of notification === 'EITHER' ? ['payment', 'oct'] : [notification]) {
      for (const status of successStatus === 'EITHER' ? (['OK', 'KO'] as const) : [successStatus]) {
        add(each, successWord, status, kind);
      }
    }
    if (SENT_KINDS.some((sent) => sent === kind)) for (const word of failures) add(notification, word, 'KO', kind);
  }
  const cells = [...rows].map(([key, kinds]) => [...key.split(' | '), kinds.map((kind) => `\`${kind}\``).join(', ')]);
  const operational = Object.entries(OPERATIONAL_TYPES).map(([type, status]) => [`\`${type}\``, status, 'none']);
  return [['type', 'status', 'operation'], ...cells, ...operational];
}

/** Every refusal by its HTTP status, with its status in gRPC, and whether the request may be repeated. */
function refusalsTable(): Table {
  const codes = new Map<string, string[]>();
  for (const code of PROBLEM_CODES.toSorted((one, other) => statusOf(one) - statusOf(other))) {
    const status = `${statusOf(code)} | ${grpcOf(code)} | ${REPEATS[REFUSALS[code].repeat].name}`;
    codes.set(status, [...(codes.get(status) ?? []), `\`${code}\``]);
  }
  const rows = [...codes].map(([status, names]) => [names.join(', '), ...status.split(' | ')]);
  return [['code', 'HTTP', 'gRPC', 'Repeat it'], ...rows];
}

/**
 * Every route that changes something: what its answer is while nobody knows what became of the request, and what a
 * second request does. test/gateway/promises plays it.
 */
function promisesTable(): Table {
  const targets = new Map<string, string[]>();
  for (const route of Object.values(ROUTES)) {
    const effect = effectOf(route);
    if (effect === 'READ') continue;
    const { method, path, again = 'changes nothing more' } = route;
    const unknown = route.codes.includes('OUTCOME_UNKNOWN') ? '504 `OUTCOME_UNKNOWN`' : '503';
    const row = effect === 'OPERATION' ? OPERATION_PROMISE : `${unknown} | ${again}`;
    targets.set(row, [...(targets.get(row) ?? []), `${method.toUpperCase()} ${path}`]);
  }
  const rows = [...targets].map(([row, routes]) => [routes.join(', '), ...row.split(' | ')]);
  return [['Routes', 'While nobody knows', 'A second request'], ...rows];
}

const OPERATION_PROMISE =
  'with an Idempotency-Key 409 `IDEMPOTENCY_IN_FLIGHT`, without 202 | under the same key gets the answer of the first; ' +
  'without a key it is another one';

/** The status in gRPC's spelling; refusals that are no reason of the contract are HTTP's alone. */
function grpcOf(code: ProblemCode): string {
  if (!(code in ErrorReason)) return 'HTTP only';
  const name = Code[translateError(new HoldfastError(code as RefusalCode, '')).code] ?? '';
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

/** The rooms of core, with what each may import of it. */
function roomsTable(): Table {
  const rows = Object.entries(CORE_ROOMS).map(([room, [holds, imports]]) => {
    const rooms = imports.split(' ').filter((name) => name !== '');
    return [`\`${room}/\``, holds, rooms.map((name) => `\`${name}/\``).join(', ') || 'nothing'];
  });
  return [['Room', 'What is in it', 'Imports of core'], ...rows];
}

/** The tokens of the sandbox and what each does. Those that differ in the kind of operation alone share a row. */
function tokensTable(): Table {
  const tokens = Object.entries(BEHAVIOURS).map(([name, { about }]) => {
    const [kind = ''] = name.split('_');
    const shared = about.replace(`${kind}s`, 'these operations');
    return { name, kind, about, shared, row: shared === about ? name : name.replace(kind, shared) };
  });
  const rows = tokens.flatMap((token) => {
    const alike = tokens.filter(({ row }) => row === token.row);
    if (alike[0] !== token) return [];
    if (alike.length === 1) return [[`\`tok_sandbox_${token.name}\``, token.about]];
    const kinds = `{${alike.map(({ kind }) => kind).join(',')}}`;
    return [[`\`tok_sandbox_${token.name.replace(token.kind, kinds)}\``, token.shared]];
  });
  return [['Token', 'What happens'], ...rows];
}

/** The cards that the checkout page takes. */
function cardsTable(): Table {
  return [['Test card', 'What happens'], ...TEST_CARDS.map((card) => [groupInFours(card.number), aboutCard(card)])];
}

/** The settings of each process. */
export const SETTINGS: Readonly<Record<string, z.ZodObject>> = {
  launcher: QUICKSTART_SETTINGS,
  core: CORE_SETTINGS,
  worker: WORKER_SETTINGS,
  migrate: z.object({ DATABASE_URL: CORE_SETTINGS.shape.DATABASE_URL }),
  gateway: GATEWAY_SETTINGS,
  sandbox: SANDBOX_SETTINGS,
  stripe: STRIPE_SETTINGS,
  adyen: ADYEN_SETTINGS,
  merchant: MERCHANT_SETTINGS,
};

/**
 * Every setting with its default and meaning. Processes in which it means the same share a row, and so do settings of
 * the same processes with the same meaning. Throws for one without a description.
 */
function settingsTable(): Table {
  const rows = new Map<string, string[]>();
  for (const [process, { shape }] of Object.entries(SETTINGS)) {
    for (const [name, setting] of Object.entries(shape as Record<string, z.ZodType>)) {
      if (setting.description === undefined) throw new Error(`the setting ${name} of ${process} has no description`);
      const key = [`\`${name}\``, defaultOf(setting), setting.description].join('\n');
      rows.set(key, [...(rows.get(key) ?? []), process]);
    }
  }
  const names = new Map<string, string[]>();
  for (const [key, processes] of rows) {
    const [name = '', ...about] = key.split('\n');
    const meaning = [processes.join(', '), ...about].join('\n');
    names.set(meaning, [...(names.get(meaning) ?? []), name]);
  }
  const cells = [...names].map(([meaning, alike]) => [alike.join(', '), ...meaning.split('\n')]);
  return [['Setting', 'Process', 'Default', 'Meaning'], ...cells];
}

function defaultOf(setting: z.ZodType): string {
  if (!setting.safeParse(undefined).success) return '*required*';
  const { default: given } = z.toJSONSchema(setting, { io: 'input', unrepresentable: 'any' });
  const preset = setting instanceof z.ZodDefault ? setting.def.defaultValue : given;
  if (preset === undefined) return 'unset';
  return String(preset) === '' ? 'empty' : `\`${preset}\``;
}

const gateway = GATEWAY_SETTINGS.shape;
const number = (value: unknown) => String(value).replace(/\B(?=(\d{3})+$)/g, ' ');
const preset = (setting: { parse(value: undefined): unknown }) => number(setting.parse(undefined));
const seconds = (ms: number) => `${ms / 1_000} s`;

/** What one merchant, address or hold may use; of settings their defaults. */
function limitsTable(): Table {
  return [
    ['What', 'Limit'],
    ['REST', `${preset(gateway.REST_RATE_PER_SECOND)} requests a second for each API key`],
    ['HTTP/1.1 connection', 'one request at a time; what is pipelined behind it waits unread'],
    [
      'event streams',
      `${preset(gateway.STREAMS_PER_API_KEY)} open for each API key at a gateway, ${OPENINGS.points} openings in ` +
        `${OPENINGS.durationSeconds} s, ${OPENING_AT_ONCE} at a time`,
    ],
    [
      'relay',
      `${preset(gateway.RELAY_VERIFIED_PER_SECOND)} verified notifications a second for each merchant; ` +
        `${preset(gateway.RELAY_ADDRESS_PER_SECOND)} requests and as many KiB of larger bodies a second ` +
        'for each address',
    ],
    [
      'calls in one core',
      `${preset(CORE_SETTINGS.shape.MAX_CALLS_IN_FLIGHT)}; a merchant has at most as many as it leaves free. Above: ` +
        '429, or 503 when all are in use',
    ],
    [
      'calls in one core that wait for one of several processors',
      'a quarter of those above, of each merchant seven times what it leaves free: seven eighths when it is alone. ' +
        'Above: 503 for a new hold or OCT, 202 at once for the rest',
    ],
    [
      'requests at one gateway',
      `${preset(gateway.REST_IN_FLIGHT)} (\`REST_IN_FLIGHT\`), shared among merchants in the same way; here and in ` +
        'core, what a merchant does with its webhook has a share of its own',
    ],
    [
      'reads of one merchant in one core',
      `one list and one look-up at a time, in the order of arrival; after ${seconds(WAIT_MS)} of waiting 429. ` +
        'Operators, by name, and internal services, by token and host, have turns of their own. A read that takes ' +
        `${seconds(READ_LIMITS.statement_timeout)} is stopped: 503`,
    ],
    ['metadata of a hold', '20 pairs, names to 40 and values to 500 characters; 16 384 bytes in UTF-8 in all'],
    [
      'captures and other writes on one hold',
      `${WRITES_PER_HOLD} in progress at a gateway, ${MAX_PER_HOLD} waiting at a core; one more gets 429`,
    ],
    ['operations that wait to be stored', `${seconds(STORE.maxWaitMs)}, then 503`],
    [
      'JSON',
      `${number(JSON_BOUNDS.maxValues)} values; ${JSON_BOUNDS.maxNames} names in requests, ` +
        `${RELAYED_JSON_BOUNDS.maxNames} in relayed bodies`,
    ],
    [
      'what one worker does at once that is due by itself',
      `${SLOTS} of each sort at each processor: automatic captures, ends of holds, inquiries and the like; a merchant ` +
        'has at most as many as it leaves free, and merchants take turns',
    ],
    ['attempts at once at one endpoint', `${DEFAULT_ENDPOINT_SLOTS}; ${SLOW_SLOTS} where it takes a second or more`],
    [
      'test notifications, replays and recoveries by a merchant',
      `${PER_MINUTE['delivery.test']}, ${PER_MINUTE['delivery.replay']} and ${PER_MINUTE['delivery.recover']} a ` +
        'minute for each merchant',
    ],
    [
      'operator sign-in',
      `${GUESSES.failures.points} wrong tokens a minute for each address, then growing penalties up to an hour`,
    ],
  ];
}
